#include "report/page/histograms.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace fathom::report {
namespace {

using trace::SpanId;

// Where a duration falls between an operation's shortest and longest.
struct Scale {
  std::size_t operation = 0;
  double log_min = 0;
  double bins_per_log = 0;

  std::size_t bin(std::int64_t duration_ns) const {
    const double log = std::log(static_cast<double>(std::max<std::int64_t>(duration_ns, 1)));
    const auto at = static_cast<std::size_t>(std::max(0.0, (log - log_min) * bins_per_log));
    return std::min(at, kHistogramBins - 1);
  }
};

std::uint64_t key_of(trace::NameId name, trace::SpanKind kind) {
  return std::uint64_t{name} << 8 | static_cast<unsigned>(kind);
}

}  // namespace

std::vector<Histogram> gpu_histograms(const trace::Trace& trace,
                                      const std::vector<analyze::Operation>& operations,
                                      std::size_t most) {
  std::unordered_map<std::string_view, std::vector<Scale>> by_name;
  for (std::size_t i = 0; i < operations.size() && most > 0; ++i) {
    const analyze::Operation& operation = operations[i];
    const auto least = static_cast<double>(std::max<std::int64_t>(operation.durations.min_ns(), 1));
    const auto longest = static_cast<double>(operation.durations.max_ns());
    if (!trace::is_gpu_work(operation.kind) || longest <= least) continue;
    by_name[operation.name].push_back(
        {i, std::log(least), kHistogramBins / (std::log(longest) - std::log(least))});
    --most;
  }
  std::unordered_map<std::uint64_t, const Scale*> scales;
  std::vector<Histogram> found(operations.size(), Histogram{});
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const trace::SpanKind kind = trace.spans.kind[id];
    if (!trace::is_gpu_work(kind)) continue;
    const auto [at, is_new] = scales.try_emplace(key_of(trace.spans.name[id], kind), nullptr);
    if (is_new) {
      const auto named = by_name.find(trace.name(id));
      if (named == by_name.end()) continue;
      for (const Scale& scale : named->second) {
        if (operations[scale.operation].kind == kind) at->second = &scale;
      }
    }
    if (const Scale* scale = at->second) {
      ++found[scale->operation][scale->bin(trace.spans.duration_ns[id])];
    }
  }
  return found;
}

}  // namespace fathom::report
