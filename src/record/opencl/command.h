#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fathom/activity.h"

namespace fathom::record::opencl {

enum class Kind : std::uint8_t {
  kernel,
  copy,
  fill,
  map,  // of memory into the host's address space; can be free of any copy
  unmap,
  marker,  // markers, barriers, migrations: commands that move no bytes we know of
  call,    // an API call, on the thread that made it
  sync,    // an API call that waits
  allocation,
  free,
};

inline constexpr std::uint64_t kNoBytes = UINT64_MAX;

// A call of the program that has returned.
struct Call {
  Kind kind = Kind::call;         // or sync
  std::int32_t status = 0;        // an OpenCL error code, or 0
  std::uint32_t thread = 0;       // that made it
  const char* name = "";          // lives as long as the process
  std::uint64_t scope = 0;        // as in QueuedCommand
  std::uint64_t correlation = 0;  // as in QueuedCommand; 0 where it enqueued nothing
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string_view message = {};  // what the driver said of a failure
};

// Everything known about one command, or about memory, that is over. Times are CLOCK_MONOTONIC_RAW
// nanoseconds.
struct QueuedCommand {
  Kind kind = Kind::call;
  CopyDirection direction = CopyDirection::unknown;
  std::uint8_t dimensions = 0;    // of a kernel's sizes
  bool is_object = false;         // memory whose `address` is the object's handle
  std::int32_t status = 0;        // an OpenCL error code, or 0
  std::int32_t device = -1;       // as numbered in devices.h
  std::int32_t queue = -1;        // as numbered in queues.h
  std::uint32_t thread = 0;       // that made the call
  const char* name = "";          // lives as long as the process
  std::uint64_t scope = 0;        // the library scope that was open on the thread; 0 where none was
  std::uint64_t correlation = 0;  // the same for a call and the command it enqueued
  std::uint64_t bytes = kNoBytes;
  std::uint64_t address = 0;  // of an allocation: what names it until it is freed
  std::int64_t queued_ns = 0;
  std::int64_t submit_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::array<std::size_t, 3> global = {};
  std::array<std::size_t, 3> local = {};  // 0 where the driver chose
};

}  // namespace fathom::record::opencl
