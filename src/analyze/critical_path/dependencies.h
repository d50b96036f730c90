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
//   Stream order   Work of a stream follows the work before it (its row before), even where
//                  a GPU let the two overlap.
//   GPU waits      From synchronisation records ("Stream Wait Event"). Without records, where a
//                  stream was made to wait between two launches on it and its next work began
//                  neither with its launch nor with the end of the work before it: the work of
//                  another stream that ended last before it began, if that is less than 20 µs.
//                  And where work was ready for over 100 µs while others were on the GPU: of
//                  those there when it began, the one that is over first and so made room.
//   Host waits     Device, stream and event synchronisation, blocking copies, and memory given back
//                  that waited. Which stream or event is taken from records; without records it
//                  is the one whose work, launched before the call, ended last before the call
//                  returned. A call that found nothing to wait for has none.
//   Hand-overs     A thread that launches GPU work and shows nothing but annotations for 100 µs or
//                  more waits for the thread of the same process that was the last to finish
//                  anything in that time, if that one launches GPU work too.
//
// Not known, and so not here: locks and queues between threads, other than above; other processes;
// other ranks (see ranks.h); events where the source has no records of them and nothing shows that
// they delayed anything.
//
// Memory: 40 bytes per piece of GPU work, 12 bytes per piece of a host line, of which there are at
// most two per span. Time is linear in the spans but for sorting.
struct Dependencies {
  GpuWork gpu;
  HostLines host;
  std::vector<GpuWait> gpu_waits;    // by work
  std::vector<HostWait> host_waits;  // by call
  std::vector<HandOver> hand_overs;  // by thread and time
};

Dependencies dependencies(const trace::Trace& trace);
Dependencies dependencies(const trace::Trace& trace, GpuWork all_work);  // all of the trace's

// Threads that launch GPU work, as indices into HostLines::threads. The others have no known part
// in what the GPU does: monitors, watchdogs, pools. All, where none launches any.
std::vector<std::uint32_t> threads_taking_part(const trace::Trace& trace,
                                               const Dependencies& dependencies);

// From the first start to the last end of the GPU work and of these threads; empty at 0 where there
// is neither.
base::Interval window_of(const Dependencies& dependencies,
                         const std::vector<std::uint32_t>& threads);

}  // namespace fathom::analyze
