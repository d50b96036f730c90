#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace fathom::trace::testing {

struct RandomTraceOptions {
  bool odd_bytes = true;  // names that are not UTF-8
};

// A trace as real ones are at their worst: threads, streams and async tracks; deep nesting; equal
// spans, spans of no duration, partial overlaps, overlaps by 1 ns; times below 0 and since 1970;
// names with quotes and control characters; numbers, text and 64 bits for pids and tids; and some
// of everything else a Trace holds. The same seed gives the same trace.
Trace random_trace(std::uint64_t seed, RandomTraceOptions options = {});

}  // namespace fathom::trace::testing
