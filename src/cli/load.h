#pragma once

#include <string>

#include "trace/trace.h"

namespace fathom::cli {

// Reads a trace and tells, on standard error, what was lost of it: one line a kind of loss.
trace::Trace load(const std::string& path);

}  // namespace fathom::cli
