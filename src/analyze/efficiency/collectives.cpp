#include "analyze/efficiency/collectives.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "analyze/efficiency/op_args.h"
#include "base/json_scan.h"

namespace fathom::analyze {
namespace {

// After so many in a row that say nothing, the source never does.
constexpr int kGiveUpAfter = 64;

struct Exchange {
  std::string name;
  std::optional<std::int64_t> in, out, ranks;
  int element_bytes = 0;

  bool is_known() const {
    return !name.empty() && (in || out) && ranks.value_or(0) > 1 && element_bytes > 0 &&
           bytes() > 0;
  }
  std::int64_t bytes() const { return std::max(in.value_or(0), out.value_or(0)) * element_bytes; }
};

Exchange exchange_in(const std::string& args) {
  Exchange found;
  base::for_each_member(
      args, base::JsonScanner::Mode::lenient, [&](std::string_view key, std::string_view value) {
        const bool is_text = value.size() >= 2 && value.front() == '"';
        const auto text = is_text ? value.substr(1, value.size() - 2) : std::string_view();
        if (key == "Collective name") found.name = text;
        if (key == "In msg nelems") found.in = base::integer_of(value);
        if (key == "Out msg nelems") found.out = base::integer_of(value);
        if (key == "Group size") found.ranks = base::integer_of(value);
        if (key == "dtype") found.element_bytes = bytes_of_type(text);
      });
  return found;
}

// The kernel says it in newer traces; its call of `record_param_comms` does, too.
Exchange exchange_of(const trace::Trace& trace, const WorkRow& row) {
  Exchange found = exchange_in(trace.args(row.span));
  if (found.is_known() || row.launch == trace::kNoSpan) return found;
  for (trace::SpanId at = trace.spans.parent[row.launch]; at != trace::kNoSpan;
       at = trace.spans.parent[at]) {
    if (trace.spans.kind[at] != trace::SpanKind::cpu_op) continue;
    if (trace.name(at) == "record_param_comms") return exchange_in(trace.args(at));
  }
  return found;
}

}  // namespace

double bus_factor(std::string_view collective, std::int64_t ranks) {
  std::string name;
  for (const char c : collective) {
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const double n = static_cast<double>(ranks);
  const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
  if (has("allreduce")) return 2 * (n - 1) / n;
  if (has("allgather") || has("reducescatter") || has("alltoall")) return (n - 1) / n;
  return 1;
}

double CollectiveRate::bus_gb_s() const {
  return alg_gb_s() * bus_factor(name, ranks);
}

std::vector<CollectiveRate> collective_rates(const trace::Trace& trace, const GpuWork& work,
                                             const DeviceWork& device) {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, CollectiveRate> rates;
  int misses = 0;
  for (const std::uint32_t at : device.by_start) {
    const WorkRow& row = work.rows[at];
    if (row.type != WorkType::communication || misses >= kGiveUpAfter) continue;
    const Exchange one = exchange_of(trace, row);
    ++misses;
    if (!one.is_known() || row.duration_ns() <= 0) continue;
    misses = 0;
    CollectiveRate& rate = rates[{one.name, one.bytes(), *one.ranks}];
    rate.name = one.name;
    rate.bytes = one.bytes();
    rate.ranks = *one.ranks;
    ++rate.count;
    rate.time_ns += row.duration_ns();
  }
  std::vector<CollectiveRate> found;
  for (auto& [key, rate] : rates) {
    found.push_back(std::move(rate));
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &CollectiveRate::time_ns);
  return found;
}

}  // namespace fathom::analyze
