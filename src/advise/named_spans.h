#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::advise {

// By name: whether `is` says so of it. Each name is asked once, however many spans have it.
template <typename Is>
std::vector<bool> names_that(const trace::Trace& trace, Is is) {
  std::vector<bool> marked(trace.names.size());
  for (trace::NameId id = 0; id < marked.size(); ++id) marked[id] = is(trace.names.view(id));
  return marked;
}

// The innermost span around another whose name is marked, or the outermost; kNoSpan where there is
// none, or no span to look around.
inline trace::SpanId innermost_around(const trace::Spans& spans, trace::SpanId span,
                                      const std::vector<bool>& marked) {
  while (span != trace::kNoSpan) {
    span = spans.parent[span];
    if (span != trace::kNoSpan && marked[spans.name[span]]) return span;
  }
  return trace::kNoSpan;
}

inline trace::SpanId outermost_around(const trace::Spans& spans, trace::SpanId span,
                                      const std::vector<bool>& marked) {
  trace::SpanId found = trace::kNoSpan;
  while (span != trace::kNoSpan) {
    span = spans.parent[span];
    if (span != trace::kNoSpan && marked[spans.name[span]]) found = span;
  }
  return found;
}

// The innermost operator of a framework around a call of the runtime.
inline trace::SpanId operator_around(const trace::Spans& spans, trace::SpanId call) {
  while (call != trace::kNoSpan) {
    call = spans.parent[call];
    if (call != trace::kNoSpan && spans.kind[call] == trace::SpanKind::cpu_op) return call;
  }
  return trace::kNoSpan;
}

}  // namespace fathom::advise
