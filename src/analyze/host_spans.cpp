#include "analyze/host_spans.h"

#include <algorithm>
#include <unordered_map>

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

std::vector<SpanId> launches_of(const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  const HostSpans host(trace);
  std::unordered_map<std::int64_t, SpanId> by_correlation;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.correlation[id] == trace::kNoCorrelation || !host.contains(id)) continue;
    const auto [at, is_new] = by_correlation.try_emplace(spans.correlation[id], id);
    const bool is_call = spans.kind[id] == SpanKind::runtime_call;
    if (!is_new && (is_call || spans.kind[at->second] != SpanKind::runtime_call)) at->second = id;
  }
  std::vector<SpanId> launch(spans.size(), trace::kNoSpan);
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (!trace::is_gpu_work(spans.kind[id])) continue;
    const auto at = by_correlation.find(spans.correlation[id]);
    if (at != by_correlation.end() && spans.correlation[id] != trace::kNoCorrelation) {
      launch[id] = at->second;
    }
  }
  return launch;
}

}  // namespace fathom::analyze
