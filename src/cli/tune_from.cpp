#include "cli/tune_from.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json_scan.h"
#include "runtime/machine_profile.h"

namespace fathom::cli {
namespace {

struct Calls {
  std::map<double, std::vector<double>> by_size;
};

// A scope of the library: its process, and the number that this gave it.
using ScopeId = std::pair<std::int64_t, std::uint64_t>;

ScopeId scope_id(const trace::Trace& trace, const trace::SpanScope& of) {
  return {trace.tracks[trace.spans.track[of.span]].pid, of.scope};
}

// What copies took that scopes waited for.
std::map<ScopeId, double> copies_of(const trace::Trace& trace) {
  std::map<ScopeId, double> copies;
  for (const trace::SpanScope& of : trace.scopes) {
    if (trace.spans.kind[of.span] != trace::SpanKind::copy) continue;
    copies[scope_id(trace, of)] += static_cast<double>(trace.spans.duration_ns[of.span]);
  }
  return copies;
}

// Scopes of the runtime library say what they are, how large, and where they ran. The router counts
// transfers apart: of a scope that copied, the copies are taken off.
void collect(const trace::Trace& trace, std::map<std::pair<Operation, std::string>, Calls>& found) {
  const std::map<ScopeId, double> copies = copies_of(trace);
  const auto copied_ns = [&](trace::SpanId id) {
    const auto own = std::ranges::lower_bound(trace.scopes, id, {}, &trace::SpanScope::span);
    if (own == trace.scopes.end() || own->span != id) return 0.0;
    const auto known = copies.find(scope_id(trace, *own));
    return known == copies.end() ? 0.0 : known->second;
  };
  for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != trace::SpanKind::scope) continue;
    const auto operation = operation_named(trace.name(id));
    if (!operation) continue;
    std::optional<double> size;
    std::string device;
    base::for_each_member(trace.args(id), base::JsonScanner::Mode::lenient,
                          [&](std::string_view key, std::string_view value) {
                            if (key == "size") size = base::real_of(value);
                            if (key == "runs_on" && value.size() > 2) {
                              device = base::unescaped(value.substr(1, value.size() - 2));
                            }
                          });
    const double ns = static_cast<double>(trace.spans.duration_ns[id]) - copied_ns(id);
    if (size && *size >= 1 && ns > 0 && !device.empty()) {
      found[{*operation, device}].by_size[*size].push_back(ns);
    }
  }
}

double median_ns(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Sizes that were recorded replace those beside them; the others stay.
void replace(std::vector<CallTime>& curve, const Calls& recorded) {
  for (const auto& [size, times] : recorded.by_size) {
    std::erase_if(curve, [at = size](const CallTime& call) {
      return call.size > at / 1.2 && call.size < at * 1.2;
    });
    curve.push_back({size, median_ns(times)});
  }
  std::ranges::sort(curve, {}, &CallTime::size);
}

}  // namespace

void learn_from_runs(const std::vector<std::string>& runs, const std::string& path, Files& files) {
  std::map<std::pair<Operation, std::string>, Calls> found;
  for (const std::string& run : runs) collect(files.load(run), found);
  if (found.empty()) {
    throw base::Error(runs[0], "no operation of the runtime library that took 10 µs or longer",
                      "Record a program that uses it: fathom profile -o run.pftrace -- PROGRAM");
  }
  auto profile = runtime::machine_profile_or_why_not(path, "Nothing is added to it");
  if (!profile) {
    throw base::Error(path, "no profile of this machine to add to", "First run: fathom tune");
  }
  std::size_t known = 0;
  for (const auto& [key, calls] : found) {
    const auto own = std::ranges::find_if(profile->curves, [&of = key](const auto& curve) {
      return curve.operation == of.first && curve.device == of.second;
    });
    if (own == profile->curves.end()) continue;
    replace(own->calls, calls);
    ++known;
  }
  if (known == 0) {
    throw base::Error(runs[0],
                      "its operations ran on devices that are not in the profile, " +
                          found.begin()->first.second + " for one",
                      "To measure this machine's devices: fathom tune");
  }
  runtime::write_machine_profile(path, *profile);
}

}  // namespace fathom::cli
