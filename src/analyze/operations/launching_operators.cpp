#include "analyze/operations/launching_operators.h"

#include <algorithm>
#include <unordered_map>

#include "analyze/operations/named_spans.h"

namespace fathom::analyze {

using trace::SpanId;
using trace::SpanKind;

std::vector<LaunchingOperator> launching_operators(const trace::Trace& trace, const GpuWork& work) {
  const trace::Spans& spans = trace.spans;
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<LaunchingOperator> found;
  for (const WorkRow& row : work.rows) {
    const SpanId around = innermost_that(spans, row.launch, [&](SpanId at) {
      return spans.kind[at] == SpanKind::cpu_op || spans.kind[at] == SpanKind::scope;
    });
    const std::string_view name =
        around == trace::kNoSpan ? std::string_view() : trace.name(around);
    const auto [place, is_new] = places.try_emplace(name, found.size());
    if (is_new) found.push_back({.name = name, .calls = 0, .sum_ns = 0, .kernels = {}});
    LaunchingOperator& its = found[place->second];
    ++its.calls;
    its.sum_ns += row.duration_ns();
    its.kernels.push_back(row.name);
  }
  if (found.size() == 1 && found.front().name.empty()) return {};
  for (LaunchingOperator& one : found) {
    std::sort(one.kernels.begin(), one.kernels.end());
    one.kernels.erase(std::unique(one.kernels.begin(), one.kernels.end()), one.kernels.end());
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.sum_ns != b.sum_ns ? a.sum_ns > b.sum_ns : a.name < b.name;
  });
  return found;
}

}  // namespace fathom::analyze
