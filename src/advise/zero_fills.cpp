#include "advise/zero_fills.h"

#include <algorithm>
#include <string_view>

#include "advise/facts.h"
#include "analyze/operations/named_spans.h"

namespace fathom::advise {
namespace {

using trace::kNoSpan;
using trace::SpanId;

bool clears_gradients(std::string_view name) {
  return name.starts_with("Optimizer.zero_grad") || name.ends_with(": zero_grad");
}

}  // namespace

ZeroFills find_zero_fills(const Facts& facts) {
  ZeroFills found;
  if (!facts.platform.is_pytorch || !facts.platform.trains) return found;
  std::vector<bool> clears(facts.trace.names.size());
  for (trace::NameId id = 0; id < clears.size(); ++id) {
    clears[id] = clears_gradients(facts.trace.names.view(id));
  }
  if (std::find(clears.begin(), clears.end(), true) == clears.end()) return found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const analyze::WorkRow& row = facts.on.gpu.rows[i];
    if (row.launch == kNoSpan) continue;
    const SpanId clearing = analyze::outermost_around(facts.spans, row.launch, clears);
    if (clearing == kNoSpan) continue;
    found.rows.push_back(i);
    found.around.push_back(clearing);
    found.work_ns += row.duration_ns();
  }
  std::sort(found.around.begin(), found.around.end());
  found.around.erase(std::unique(found.around.begin(), found.around.end()), found.around.end());
  for (const SpanId one : found.around) found.host_ns += facts.spans.duration_ns[one];
  return found;
}

}  // namespace fathom::advise
