#pragma once

#include <string>

#include "trace/trace.h"

namespace fathom::trace {

// In words, for help and for the error about a file that is none of these.
inline constexpr const char* kFormatsRead =
    "Kineto/Chrome JSON (.gz, .zst, .zip), Perfetto, Nsight Systems SQLite exports, PyTorch "
    "memory snapshots and Fathom's own runs and profiles";

// Reads a trace of any format Fathom knows; the content tells which, not the name. What is damaged
// is read as far as it goes, and `warnings` counts what was lost. Throws base::Error where there is
// nothing to read: a missing or empty file, a directory, a format that is none of ours.
Trace read_trace(const std::string& path);

// The same of what can be read from a descriptor, which stays open; `name` is for messages.
Trace read_trace(int descriptor, const std::string& name);

}  // namespace fathom::trace
