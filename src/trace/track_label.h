#pragma once

#include <string>

#include "trace/trace.h"

namespace fathom::trace {

// A track as people call it: "GPU 0 · stream 7", "thread 4711 (python)". Not empty, and on one
// line.
std::string label_of(const Track& track);

// The same where there is little room: "stream 7".
std::string short_label_of(const Track& track);

// The GPU that a stream belongs to: "GPU 0". Of a stream alone.
std::string gpu_label_of(const Track& track);

}  // namespace fathom::trace
