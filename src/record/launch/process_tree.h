#pragma once

#include <sys/types.h>

#include <vector>

namespace fathom::record {

// A process and all its descendants that are there now; itself first.
std::vector<pid_t> descendants(pid_t process);

}  // namespace fathom::record
