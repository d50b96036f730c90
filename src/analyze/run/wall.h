#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What says when the run began and ended.
enum class WallBasis : std::uint8_t {
  program,   // the launcher: from the start of the program to its end
  steps,     // from the first step of the host to the later of the last step's end and GPU work
  activity,  // the first and the last of what the GPUs and the threads that use them did
};

// The run, as every command means it: its length is what shares of the run are shares of.
//
//   Program   Where the launcher of `fathom profile` saw the program begin and end, that is the
//   run,
//             all of it.
//   Steps     Else with PyTorch's steps, from the first to the last. GPU work that the last one
//             launched belongs to it.
//   Activity  Else all of the GPUs and of the threads that launch GPU work or have scopes of the
//             Fathom library; of all threads where none does. Frames that a profiler draws around
//             everything, threads that launch nothing (watchdogs, samplers) and a wait for the
//             device with which a profiler closes, after the last work, are no part of it.
//
// Of the last two, some time stands apart and is not counted, unless Fathom recorded the program.
// No GPU works in it:
//
//   Set-up    Calls of 10 ms and more that create a context or a stream, load a module, allocate or
//             free memory or launch a kernel, if the call comes before all GPU work, is the first
//             of its name or takes ten times its median; and the first call of a data loader that
//             takes three times its median: they do not come back in a longer run. If they fill
//             half of the operator that they are in, the operator counts.
//   Unknown   The first work of a stream began more than 1 ms after its launch had returned and the
//             GPU shows nothing in between: something ran there that was not recorded, because the
//             recording is an excerpt. It begins where the last recorded work ended.
struct Wall {
  base::Interval time;
  WallBasis basis = WallBasis::activity;
  base::IntervalSet set_up;
  base::IntervalSet unknown;
  std::string set_up_call;  // that took the longest; empty where there is none

  std::int64_t set_up_ns() const { return base::total_length(set_up); }
  std::int64_t unknown_ns() const { return base::total_length(unknown); }
  std::int64_t length_ns() const { return time.length() - set_up_ns() - unknown_ns(); }
};

// `work` is all of the trace's, `steps` its steps (steps.h). Of a trace without spans, empty at 0.
Wall wall(const trace::Trace& trace, const GpuWork& work, const std::vector<trace::SpanId>& steps);
Wall wall(const trace::Trace& trace);

// Tracks of threads that launch GPU work or have scopes; by TrackId.
std::vector<bool> threads_of_run(const trace::Trace& trace, const GpuWork& work);

}  // namespace fathom::analyze
