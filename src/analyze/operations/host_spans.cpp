#include "analyze/operations/host_spans.h"

#include <algorithm>

namespace fathom::analyze {

using trace::SpanId;
using trace::SpanKind;

HostSpans::HostSpans(const trace::Trace& trace)
    : trace_(trace),
      kinds_are_known_(std::any_of(
          trace.spans.kind.begin(), trace.spans.kind.end(),
          [](SpanKind k) { return k != SpanKind::other && k != SpanKind::unfinished; })) {}

bool HostSpans::contains(SpanId id) const {
  const SpanKind kind = trace_.spans.kind[id];
  if (trace::is_gpu_work(kind) || kind == SpanKind::gpu_annotation) return false;
  if (kind == SpanKind::unfinished || (kind == SpanKind::other && kinds_are_known_)) return false;
  return trace_.tracks[trace_.spans.track[id]].kind != trace::TrackKind::gpu_stream;
}

}  // namespace fathom::analyze
