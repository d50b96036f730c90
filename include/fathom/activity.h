#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "fathom/name.h"

namespace fathom {

// What a recorder (OpenCL layer, CUDA injection, …) saw the GPU or its runtime do.
enum class ActivityKind : std::uint8_t {
  kernel,    // work on the GPU
  copy,      // memory moved to, from or on a GPU
  fill,      // memory set by a GPU
  api_call,  // the thread was inside the GPU runtime
  sync,      // the thread waited inside the GPU runtime
  other,     // on a queue, but no work: maps, markers, barriers, commands that failed
};

enum class CopyDirection : std::uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  device_to_device,
  peer_to_peer,
};

// The scope that was innermost on a thread when something was launched. Empty where none was open.
struct ScopeRef {
  std::uint64_t instance = 0;
  explicit operator bool() const { return instance != 0; }
  bool operator==(const ScopeRef&) const = default;
};

// How many work items a kernel has, and how they are grouped.
struct LaunchSize {
  std::uint8_t dimensions = 0;  // 0: not known
  std::array<std::uint64_t, 3> global = {};
  std::array<std::uint64_t, 3> local = {};  // 0 where the driver chose
  bool operator==(const LaunchSize&) const = default;
};

// Times are nanoseconds of CLOCK_MONOTONIC_RAW (fathom::now_ns), [start_ns, end_ns).
struct GpuActivity {
  ActivityKind kind = ActivityKind::kernel;
  CopyDirection direction = CopyDirection::unknown;
  Name name;
  Name backend;                             // "opencl", "cuda"
  std::int32_t device = 0;                  // of kernel, copy and fill
  std::optional<std::int64_t> queue;        // queue or stream; kernel, copy and fill have one
  std::optional<std::int64_t> thread;       // of api_call and sync: the thread that made it
  std::optional<std::int64_t> correlation;  // the same for a launch and the work it launched
  std::optional<std::uint64_t> bytes;       // moved by a copy, set by a fill
  ScopeRef scope;                           // Profiler::innermost_scope() at launch
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> queued_ns;  // when the program asked for it
  std::optional<std::int64_t> submit_ns;  // when it was handed to the device
  std::int32_t status = 0;                // the runtime's error code, or 0
  LaunchSize size;                        // of a kernel
  Name message = {};                      // what the runtime said of a failure: the log of a build
};

// A GPU that a recorder will refer to by its number.
struct DeviceRecord {
  std::int32_t device = 0;
  Name name;
};

// An allocation (bytes > 0) or a free (bytes < 0) of device memory.
struct MemoryRecord {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
  std::int32_t device = 0;
  std::optional<std::uint64_t> address;  // the same for an allocation and its free
  ScopeRef scope;
  Name name = {};                           // of the call that allocated it
  std::optional<std::int64_t> thread = {};  // that allocated or freed it
  bool is_handle = false;  // `address` names an object, and is not where its memory is
  // What the allocator has of this device now, for blocks that it gave out and for later ones.
  std::optional<std::int64_t> total_reserved = {};
};

}  // namespace fathom
