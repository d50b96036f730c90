#pragma once

#include <vector>

#include "trace/builder.h"
#include "trace/read/chrome/rows.h"

namespace fathom::trace {

// What can only be decided when everything is read: ends of spans are matched, tracks that belong
// together become one, and names of processes and threads find their tracks.
Trace finish_chrome(std::vector<ChromePart> parts, RunInfo run, Warnings warnings,
                    unsigned threads);

}  // namespace fathom::trace
