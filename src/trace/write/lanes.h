#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace fathom::trace {

// Spans of one track laid out so that within a lane each two are apart or one holds the other, as
// formats need that mark where spans begin and end. Lane 0 has all, unless some overlap partly.
// Result: the lane of each span of the track, in order. Equal spans that follow each other share a
// lane.
std::vector<std::uint32_t> lanes_of(const Spans& spans, const Track& track);

}  // namespace fathom::trace
