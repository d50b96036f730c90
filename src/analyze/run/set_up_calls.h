#pragma once

#include <cstdint>
#include <vector>

#include "analyze/critical_path/dependencies.h"
#include "trace/trace.h"

namespace fathom::analyze {

// All calls of one name and kind. Goes over the whole trace: ask for few.
struct UsualCall {
  std::int64_t median_ns = 0;
  trace::SpanId first = trace::kNoSpan;  // by start
  std::size_t calls = 0;
};

UsualCall usual_call(const trace::Trace& trace, trace::SpanId one);

// The first of three or more calls of a data loader starts it, and its workers, if it takes so many
// times as long as is usual.
inline constexpr std::int64_t kTimesUsualLoad = 3;

// Calls, of threads that launch GPU work, which set something up, in order: what a program does
// when it starts, and no later step does. What they take is never a saving.
//
//   A program   is built or loaded.
//   Memory      is allocated or given back before the first GPU work.
//   Any call    takes 1 ms and over 10 times what is usual for its name without waiting for the
//               GPU; of launches, only the first of a kernel where there are others to compare.
//
// `takes_part` says it of threads (HostLines), `is_first_launch` of spans: it launches a kernel
// that has not run before.
std::vector<trace::SpanId> set_up_calls(const trace::Trace& trace, const Dependencies& on,
                                        const std::vector<bool>& takes_part,
                                        const std::vector<bool>& is_first_launch);

}  // namespace fathom::analyze
