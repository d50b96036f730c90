#pragma once

#include <string>

namespace fathom::detail {

// Adds to the run file of a process that is gone what its live file still holds: all that it had
// recorded and not written when it ended. The run file is cut first to where the live file begins.
// Nothing happens where there is no such live file, or it is over. Throws base::Error where the run
// file cannot be written.
void add_leftovers(const std::string& live_file, const std::string& run_file);

}  // namespace fathom::detail
