#pragma once

#include <string>

#include "trace/trace.h"

namespace fathom::cli {

// Reads a trace and tells, on standard error, what was lost of it: one line a kind of loss.
trace::Trace load(const std::string& path);

// Whether compressed data was cut off or damaged in any input so far. What could be unpacked of it
// is shown all the same, but a script must learn that it was not the whole: the status is 2 then,
// as gunzip's is not 0.
bool input_was_damaged();

}  // namespace fathom::cli
