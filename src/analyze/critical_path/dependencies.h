#pragma once

#include <cstdint>
#include <vector>

#include "analyze/critical_path/host_lines.h"
#include "analyze/hta/gpu_work.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::analyze {

// How sure a dependency is: the source says so; or it is the one that fits what was seen.
enum class Basis : std::uint8_t { recorded, inferred };

// Work that began only after other work, on another stream, had ended or was about to.
struct GpuWait {
  std::uint32_t work = 0;  // indices into GpuWork::rows
  std::uint32_t on = 0;
  Basis basis = Basis::recorded;
};

// A call of the host that returned only after GPU work had ended.
struct HostWait {
  trace::SpanId call = trace::kNoSpan;
  std::uint32_t on = 0;  // index into GpuWork::rows
  Basis basis = Basis::recorded;
};

// A launch that found the launch queue full and returned only when there was room again: when
// earlier work had begun.
struct QueueWait {
  trace::SpanId call = trace::kNoSpan;
  std::uint32_t on = 0;          // index into GpuWork::rows; it began within the call
  std::uint32_t work = kNoWork;  // the first row that the call launched
  Basis basis = Basis::recorded;

  static constexpr std::uint32_t kNoWork = UINT32_MAX;  // the trace ends before it
};

// A thread that had nothing to do until another of its process was done (the backward pass runs on
// a thread of its own). Always inferred.
struct HandOver {
  std::uint32_t thread = 0;  // indices into HostLines::threads
  std::uint32_t from = 0;
  std::int64_t time_ns = 0;        // when it went on
  std::int64_t from_time_ns = 0;   // when the other was done; no later
  std::int64_t idle_since_ns = 0;  // when it had last done anything; earlier than that
};

// What waited for what in one trace.
//
//   Thread order   The pieces of a thread (host_lines.h) follow each other.
//   Launch         GPU work begins after the call of its correlation began (GpuWork::rows).
//                  Without one, the host asked for it before it began, and before it asked for any
//                  work behind it on its stream.
//   Stream order   Work of a stream follows the work before it (its row before), even where
//                  a GPU let the two overlap.
//   GPU waits      From synchronisation records ("Stream Wait Event"). Without records, where a
//                  stream was made to wait between two launches on it and its next work began
//                  neither with its launch nor with the end of the work before it: the work of
//                  another stream that ended last before it began, if that is less than 20 µs.
//                  The same for work without a launch record that began over 100 µs after the
//                  work before it. And where work was ready for over 100 µs while others were on
//                  the GPU: of those there when it began, the one that is over first and so made
//                  room.
//   Host waits     Device, stream and event synchronisation, blocking copies, and memory given back
//                  that waited. Which stream or event is taken from records; without records it
//                  is the one whose work, launched before the call, ended last before the call
//                  returned, or up to 20 µs after it where none ended in the 20 µs before: clocks
//                  disagree by that much, on ROCm above all. Work without a launch record that ran
//                  within the call counts as launched before it. A copy blocks if it, or at least
//                  half of it and all but 20 µs, ran within its call. A call that found nothing to
//                  wait for has none.
//   Queue waits    CUDA keeps about 1,021 launches of a stream; the next one returns a few
//                  microseconds after the oldest of them has begun. From records ("Command Buffer
//                  Full"), else a launch that took over twice as long as a quarter of those of its
//                  name and returned within 50 µs after work began on its stream within the call
//                  that was 900 to 1,024 launches before it. Copies from and to the host do not
//                  count as launches here.
//   Hand-overs     A thread that launches GPU work and shows nothing but annotations for 100 µs or
//                  more waits for the thread of the same process that was the last to finish
//                  anything in that time, if that one launches GPU work too.
//
// Not known, and so not here: locks and queues between threads, other than above; other processes;
// other ranks (see ranks.h); events where the source has no records of them and nothing shows that
// they delayed anything.
//
// Memory: 40 bytes per piece of GPU work, 12 bytes per piece of a host line, of which there are at
// most two per span, 16 bytes per wait; while they are made, 16 more per piece of GPU work. Time is
// linear in the spans but for sorting and looking up by halves.
struct Dependencies {
  GpuWork gpu;
  HostLines host;
  std::vector<GpuWait> gpu_waits;      // by work
  std::vector<HostWait> host_waits;    // by call
  std::vector<QueueWait> queue_waits;  // by call, one for each
  std::vector<HandOver> hand_overs;    // by thread and time
};

// The wait of a call for the launch queue; null where it did not wait.
const QueueWait* queue_wait_of(const Dependencies& dependencies, trace::SpanId call);

Dependencies dependencies(const trace::Trace& trace);
Dependencies dependencies(const trace::Trace& trace, GpuWork all_work);  // all of the trace's
Dependencies dependencies(const trace::Trace& trace, GpuWork all_work, HostLines host);

// Threads that launch GPU work, as indices into HostLines::threads. The others have no known part
// in what the GPU does: monitors, watchdogs, pools. All, where none launches any.
std::vector<std::uint32_t> threads_taking_part(const trace::Trace& trace,
                                               const Dependencies& dependencies);

// From the first start to the last end of the GPU work and of these threads; empty at 0 where there
// is neither.
base::Interval window_of(const Dependencies& dependencies,
                         const std::vector<std::uint32_t>& threads);

}  // namespace fathom::analyze
