#pragma once

#include <cstdint>

#include "record/opencl/command.h"

namespace fathom::record::opencl {

// Where everything that was observed goes: the one place that knows the profiler.

void returned(const Call& call) noexcept;
void finished(const QueuedCommand& command) noexcept;
void device_found(std::int32_t index, const char* name) noexcept;

// The innermost library scope of the calling thread; 0 where none is open.
std::uint64_t open_scope() noexcept;

// What could not be recorded, and why.
enum class Unrecorded : std::uint8_t {
  no_memory,        // for our own bookkeeping
  too_many,         // more commands in flight than we hold
  no_timestamps,    // the driver gave none for a finished command
  untracked_memory  // the driver cannot tell when it is freed
};
void lost(Unrecorded why, std::uint64_t count = 1) noexcept;

}  // namespace fathom::record::opencl
