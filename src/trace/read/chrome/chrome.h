#pragma once

#include <memory>

#include "trace/read/input.h"
#include "trace/trace.h"

namespace fathom::trace {

// Reads a Chrome or Kineto JSON trace. Throws base::Error only where there is no event to read.
// `threads` = 0: as many as the machine has, at most 8.
Trace read_chrome(const std::shared_ptr<const Input>& input, unsigned threads = 0);

}  // namespace fathom::trace
