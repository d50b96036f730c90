#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom {

// What a recorder (OpenCL layer, CUDA injection, …) saw the GPU or its runtime do.
enum class ActivityKind : std::uint8_t {
  kernel,    // work on the GPU
  copy,      // memory moved to, from or on a GPU
  fill,      // memory set by a GPU
  api_call,  // the thread was inside the GPU runtime
  sync,      // the thread waited inside the GPU runtime
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

// Times are nanoseconds of CLOCK_MONOTONIC_RAW (fathom::now_ns), [start_ns, end_ns).
struct GpuActivity {
  ActivityKind kind = ActivityKind::kernel;
  CopyDirection direction = CopyDirection::unknown;
  std::string name;
  std::string backend;                      // "opencl", "cuda"
  std::int32_t device = 0;                  // of kernel, copy and fill
  std::optional<std::int64_t> queue;        // queue or stream; kernel, copy and fill have one
  std::optional<std::int64_t> thread;       // of api_call and sync: the thread that made it
  std::optional<std::int64_t> correlation;  // the same for a launch and the work it launched
  std::optional<std::uint64_t> bytes;       // moved by a copy, set by a fill
  ScopeRef scope;                           // Profiler::innermost_scope() at launch
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// An allocation (bytes > 0) or a free (bytes < 0) of device memory.
struct MemoryRecord {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
  std::int32_t device = 0;
  std::optional<std::uint64_t> address;
  ScopeRef scope;
};

}  // namespace fathom
