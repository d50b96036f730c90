#pragma once

#include <memory>

#include "trace/read/input.h"
#include "trace/trace.h"

namespace fathom::trace {

// Reads an Nsight Systems report that was exported to SQLite. Which tables and columns there are
// differs with the version and with what was recorded: none of them is required. Throws base::Error
// where the database cannot be opened or has none of an export's tables.
//
// A GPU's streams are tracks with the GPU's number as pid and the stream's as tid; where several
// processes use one GPU, those of all but the first carry the process in `pid_text`. Correlations
// are unique in the trace: above their 32 bits is the number of the process among those seen.
Trace read_nsys(const std::shared_ptr<const Input>& input);

}  // namespace fathom::trace
