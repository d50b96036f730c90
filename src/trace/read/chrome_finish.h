#pragma once

#include <vector>

#include "trace/builder.h"
#include "trace/read/chrome_rows.h"

namespace fathom::trace {

// What one thread has read, as far as it is valid, in the order of the file.
struct ChromePart {
  ChromePart() { part.arena = std::make_unique<Arena>(); }

  TracePart part;
  std::vector<Batch> batches;
};

// What can only be decided when everything is read: ends of spans are matched, tracks that belong
// together become one, and names of processes and threads find their tracks.
Trace finish_chrome(std::vector<ChromePart> parts, RunInfo run, Warnings warnings,
                    unsigned threads);

}  // namespace fathom::trace
