#include "report/page/evidence.h"

namespace fathom::report {
namespace {

constexpr std::size_t kEvidenceShown = 6;

}  // namespace

std::vector<ShownSpan> shown_evidence(const advise::Suggestion& one, const trace::Trace& trace,
                                      const PageLayout& layout, std::int64_t begin_ns) {
  std::vector<ShownSpan> shown;
  for (const trace::SpanId id : one.evidence) {
    if (shown.size() == kEvidenceShown) break;
    if (layout.place[id] == kNoPlace) continue;
    shown.push_back({std::string(trace.name(id)), layout.place[id],
                     trace.spans.start_ns[id] - begin_ns, trace.spans.duration_ns[id]});
  }
  return shown;
}

}  // namespace fathom::report
