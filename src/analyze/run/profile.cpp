#include "analyze/run/profile.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyze/operations/operations.h"
#include "base/figure_fields.h"
#include "base/json_scan.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;

// An entry's figures in whole nanoseconds and bytes, so that sums are exact in any order.
CallFigures entry_figures(const trace::Trace& trace, SpanId id) {
  CallFigures entry;
  base::for_each_member(trace.args(id), base::JsonScanner::Mode::lenient,
                        [&](std::string_view key, std::string_view value) {
                          const base::CallField* const field = base::find_call_field(key);
                          if (field == nullptr || field->member == nullptr) return;
                          if (value.size() > 1 && value.starts_with('"')) {
                            value = value.substr(1, value.size() - 2);
                          }
                          const auto number = base::real_of(value);
                          if (!number || !std::isfinite(*number)) return;
                          entry.*field->member = std::llround(*number * base::size_of(field->unit));
                        });
  return entry;
}

// The entries of one operation.
struct Counted {
  std::vector<std::int64_t> durations;
  std::int64_t self_ns = 0;
  std::optional<std::int64_t> gpu_ns, cpu_ns, transfer_ns, overhead_ns;
};

void add_known(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& one) {
  if (one) sum = sum.value_or(0) + *one;
}

std::optional<double> as_double(const std::optional<std::int64_t>& ns) {
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

// Between two neighbours by linear interpolation, as the writer of profiles does it.
double exact_quantile(const std::vector<std::int64_t>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<double>(sorted[static_cast<std::size_t>(std::floor(at))]);
  const auto high = static_cast<double>(sorted[static_cast<std::size_t>(std::ceil(at))]);
  return low + (high - low) * (at - std::floor(at));
}

NamedFigures sum_up(std::string name, Counted& counted) {
  std::sort(counted.durations.begin(), counted.durations.end());
  NamedFigures scope;
  scope.operation = std::move(name);
  scope.calls = counted.durations.size();
  std::int64_t total = 0;
  for (const std::int64_t ns : counted.durations) total += ns;
  scope.total_ns = static_cast<double>(total);
  scope.self_ns = static_cast<double>(counted.self_ns);
  scope.min_ns = static_cast<double>(counted.durations.front());
  scope.max_ns = static_cast<double>(counted.durations.back());
  scope.p50_ns = exact_quantile(counted.durations, 0.5);
  scope.p99_ns = exact_quantile(counted.durations, 0.99);
  scope.gpu_ns = as_double(counted.gpu_ns);
  scope.cpu_ns = as_double(counted.cpu_ns);
  scope.transfer_ns = as_double(counted.transfer_ns);
  scope.overhead_ns = as_double(counted.overhead_ns);
  return scope;
}

void complete_from(NamedFigures& scope, const NamedFigures& counted) {
  if (scope.calls == 0) scope.calls = counted.calls;
  if (scope.calls != counted.calls) return;
  if (!scope.self_ns) scope.self_ns = counted.self_ns;
  if (!scope.p50_ns) scope.p50_ns = counted.p50_ns;
  if (!scope.p99_ns) scope.p99_ns = counted.p99_ns;
}

std::vector<NamedFigures> scopes_of(const trace::Trace& trace,
                                    std::unordered_map<std::string_view, Counted>& counted) {
  std::vector<NamedFigures> scopes = trace.operations;
  if (scopes.empty()) {
    for (auto& [name, entries] : counted) scopes.push_back(sum_up(std::string(name), entries));
  } else {
    for (NamedFigures& scope : scopes) {
      const auto entries = counted.find(scope.operation);
      if (entries != counted.end()) complete_from(scope, sum_up({}, entries->second));
    }
  }
  std::sort(scopes.begin(), scopes.end(), [](const NamedFigures& a, const NamedFigures& b) {
    const double left = weight_of(a);
    const double right = weight_of(b);
    return left != right ? left > right : a.operation < b.operation;
  });
  return scopes;
}

}  // namespace

bool is_profile(const trace::Trace& trace) {
  return trace.run.format == "profile JSON";
}

ProfileFindings profile_findings(const trace::Trace& trace) {
  ProfileFindings found;
  const std::vector<std::int64_t> self = self_times(trace.spans);
  std::unordered_map<std::string_view, Counted> counted;
  TimeParts parts;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const CallFigures entry = entry_figures(trace, id);
    Counted& operation = counted[trace.name(id)];
    operation.durations.push_back(trace.spans.duration_ns[id]);
    operation.self_ns += self[id];
    add_known(operation.gpu_ns, entry.gpu_ns);
    add_known(operation.cpu_ns, entry.cpu_ns);
    add_known(operation.transfer_ns, entry.transfer_ns);
    add_known(operation.overhead_ns, entry.overhead_ns);
    if (entry.memory_allocated_bytes) {
      found.memory.push_back({trace.spans.end_ns(id), *entry.memory_allocated_bytes});
    }
    found.peak_bytes = std::max(found.peak_bytes, entry.memory_peak_bytes);
    if (trace.spans.parent[id] != trace::kNoSpan) continue;
    parts.gpu_ns += entry.gpu_ns.value_or(0);
    parts.transfer_ns += entry.transfer_ns.value_or(0);
    parts.overhead_ns += entry.overhead_ns.value_or(0);
    parts.cpu_ns += entry.cpu_ns.value_or(0);
  }
  if (parts != TimeParts{}) found.parts = parts;
  std::sort(found.memory.begin(), found.memory.end(),
            [](const ProfileMemory& a, const ProfileMemory& b) {
              return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.bytes < b.bytes;
            });
  found.scopes = scopes_of(trace, counted);
  found.shares = weight_shares(found.scopes);
  return found;
}

double weight_of(const NamedFigures& scope) {
  return scope.self_ns.value_or(scope.total_ns.value_or(0));
}

std::vector<double> weight_shares(const std::vector<NamedFigures>& scopes) {
  double whole = 0;
  for (const NamedFigures& scope : scopes) whole += weight_of(scope);
  std::vector<double> shares;
  for (const NamedFigures& scope : scopes) {
    if (whole > 0) shares.push_back(weight_of(scope) / whole * 100);
  }
  return shares;
}

}  // namespace fathom::analyze
