#include "analyze/operations/steps.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace fathom::analyze {

using trace::SpanId;
using trace::SpanKind;

std::vector<SpanId> step_spans(const trace::Trace& trace) {
  std::vector<bool> is_step(trace.names.size());
  bool any = false;
  for (trace::NameId id = 0; id < is_step.size(); ++id) {
    is_step[id] = trace.names.view(id).starts_with(kStepName);
    any = any || is_step[id];
  }
  std::vector<SpanId> found;
  if (!any) return found;
  std::unordered_set<trace::NameId> seen;
  for (const trace::Track& track : trace.tracks) {
    if (track.kind != trace::TrackKind::thread) continue;
    for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
      if (!is_step[trace.spans.name[id]]) continue;
      const SpanKind kind = trace.spans.kind[id];
      if (kind == SpanKind::unfinished || kind == SpanKind::gpu_annotation) continue;
      if (seen.insert(trace.spans.name[id]).second) found.push_back(id);
    }
  }
  std::sort(found.begin(), found.end(), [&](SpanId a, SpanId b) {
    return std::pair(trace.spans.start_ns[a], a) < std::pair(trace.spans.start_ns[b], b);
  });
  return found;
}

std::optional<std::int64_t> whole_steps_end(const trace::Trace& trace,
                                            const std::vector<SpanId>& steps) {
  if (steps.size() < 2) return std::nullopt;
  return trace.spans.start_ns[steps.back()];
}

}  // namespace fathom::analyze
