#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace fathom::advise {

// Sizes of a tensor, outermost first.
using Shape = std::vector<std::int64_t>;

// Of the tensors that an operation was given, in order; empty where they were not recorded.
std::vector<Shape> shapes_of(const trace::Trace& trace, trace::SpanId operation);

// 0 where there are more than can be counted.
std::int64_t elements_of(const Shape& shape);

}  // namespace fathom::advise
