#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/hta/gpu_work.h"

namespace fathom::analyze {

// Why nothing ran, decided by the work that ended each gap:
//   host wait    it was launched only after the gap had begun: the host came too late
//   kernel wait  it was launched in time and the gap is shorter than 30 µs: the cost of switching
//   other        a longer gap before work that was waiting already, or whose launch is unknown
// A gap begins when all earlier work has ended, so it is never negative.
struct IdleCauses {
  std::int64_t host_wait_ns = 0;
  std::int64_t kernel_wait_ns = 0;
  std::int64_t other_ns = 0;
  std::uint64_t host_waits = 0;  // gaps
  std::uint64_t kernel_waits = 0;
  std::uint64_t others = 0;

  std::int64_t total_ns() const { return host_wait_ns + kernel_wait_ns + other_ns; }
};

struct StreamIdle {
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  IdleCauses causes;
};

inline constexpr std::int64_t kKernelWaitBelowNs = 30'000;

// Of one stream, between its first and last work.
std::vector<StreamIdle> idle_by_stream(const trace::Trace& trace, const GpuWork& work,
                                       const DeviceWork& device);

// Of the whole GPU: gaps in which no stream of it ran anything. Their sum is Temporal::idle_ns.
IdleCauses idle_of_device(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device);

}  // namespace fathom::analyze
