#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

// By name: whether `is` says so of it. Each name is asked once, however many spans have it.
template <typename Is>
std::vector<bool> names_that(const trace::Trace& trace, Is is) {
  std::vector<bool> marked(trace.names.size());
  for (trace::NameId id = 0; id < marked.size(); ++id) marked[id] = is(trace.names.view(id));
  return marked;
}

// So far out is looked at what is around a span. Call stacks of real programs are not as deep, and
// looking at all of a stack for each of its spans would be quadratic.
inline constexpr int kDeepestLook = 256;

// The innermost span around another of which `is` says so; kNoSpan where there is none, or no span
// to look around.
template <typename Is>
trace::SpanId innermost_that(const trace::Spans& spans, trace::SpanId span, Is is) {
  for (int depth = 0; span != trace::kNoSpan && depth < kDeepestLook; ++depth) {
    span = spans.parent[span];
    if (span != trace::kNoSpan && is(span)) return span;
  }
  return trace::kNoSpan;
}

// The innermost span around another whose name is marked, or the outermost.
inline trace::SpanId innermost_around(const trace::Spans& spans, trace::SpanId span,
                                      const std::vector<bool>& marked) {
  return innermost_that(spans, span, [&](trace::SpanId at) { return marked[spans.name[at]]; });
}

inline trace::SpanId outermost_around(const trace::Spans& spans, trace::SpanId span,
                                      const std::vector<bool>& marked) {
  trace::SpanId found = trace::kNoSpan;
  innermost_that(spans, span, [&](trace::SpanId at) {
    if (marked[spans.name[at]]) found = at;
    return false;
  });
  return found;
}

// The innermost operator of a framework around a call of the runtime.
inline trace::SpanId operator_around(const trace::Spans& spans, trace::SpanId call) {
  return innermost_that(
      spans, call, [&](trace::SpanId at) { return spans.kind[at] == trace::SpanKind::cpu_op; });
}

}  // namespace fathom::analyze
