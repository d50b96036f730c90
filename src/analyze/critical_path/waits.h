#pragma once

#include <cstdint>
#include <vector>

#include "analyze/critical_path/dependencies.h"

namespace fathom::analyze {

// When the host had asked for each row at the latest. A stream runs its work in order, so that is
// when the row's own call began, or that of any work behind it on its stream; without any of these
// it is the row's own start. Along a stream it never decreases.
using LaunchedBy = std::vector<std::int64_t>;
LaunchedBy launched_by(const trace::Spans& spans, const GpuWork& gpu);

// The parts of `dependencies` (dependencies.h says which waits there are).
std::vector<HostWait> host_waits(const trace::Trace& trace, const GpuWork& gpu,
                                 const LaunchedBy& launched);
std::vector<GpuWait> gpu_waits(const trace::Trace& trace, const GpuWork& gpu,
                               const LaunchedBy& launched);
std::vector<QueueWait> queue_waits(const trace::Trace& trace, const GpuWork& gpu);
std::vector<HandOver> hand_overs(const trace::Trace& trace, const GpuWork& gpu,
                                 const HostLines& host);

// The first row of a stream that the host had not asked for before a time; one past the last where
// it had asked for all of them.
std::size_t first_launched_from(const GpuStream& stream, const LaunchedBy& launched,
                                std::int64_t time_ns);

// Clocks of host and GPU are brought together to about this much; old sources round to 1 µs.
inline constexpr std::int64_t kClockSlackNs = 2'000;

// A wait may return this much before the recorded end of what it waited for, and returns within as
// much after it.
inline constexpr std::int64_t kReturnNs = 20'000;

// From when a known launch no longer held the work back: the end of the call, or its start where
// the work began within it, as it does in a blocking copy.
inline std::int64_t launch_ready_ns(const trace::Spans& spans, const WorkRow& row) {
  const std::int64_t end = spans.end_ns(row.launch);
  return end <= row.start_ns ? end : spans.start_ns[row.launch];
}

}  // namespace fathom::analyze
