#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "analyze/run/wall.h"
#include "trace/trace.h"

namespace fathom::analyze {

// Why a GPU had nothing to do, decided by the work that ended the gap. It was launched after the
// gap had begun, because its thread
//   host_code     was in code of Python or a library that launches nothing, or in nothing that was
//                 recorded, for 1 ms or more
//   sync          had just come out of a call that waits for the GPU
//   set_up        was in a call of 1 ms or more that took ten times its median
//   call          was in another call of the runtime for most of the gap
//   launch        did nothing of these: launching is the limit
// or before the gap had begun, and
//   latency       the gap is shorter than 10 µs: the cost of switching
//   other_stream  the work before it was another stream's, and the gap is shorter than 100 µs
//   not_recorded  neither: it waited for something that the trace does not have
// or
//   unlinked      the trace does not say when it was launched, and the gap is 10 µs or longer.
// After the last work nothing ends the gap: it counts as if something were launched at the end.
inline constexpr std::int64_t kLongGapNs = 1'000'000;  // in which the host was in other code
inline constexpr std::int64_t kLatencyNs = 10'000;     // below that, the cost of switching

// From here on, in percent of the run, waiting for launches is what bounds it.
inline constexpr double kLaunchBoundPct = 30;

enum class IdleCause : std::uint8_t {
  host_code,
  sync,
  set_up,
  call,
  launch,
  latency,
  other_stream,
  not_recorded,
  unlinked,
};

inline constexpr std::array<std::string_view, 9> kIdleCauseNames = {
    "host_code", "sync",         "set_up",       "call",    "launch",
    "latency",   "other_stream", "not_recorded", "unlinked"};

constexpr std::string_view name_of(IdleCause cause) {
  return kIdleCauseNames[static_cast<std::size_t>(cause)];
}

// Idle time of one cause, and what had most of it.
struct IdleTime {
  std::int64_t ns = 0;
  std::uint64_t gaps = 0;
  std::int64_t longest_ns = 0;

  // host_code: the function or operator; sync: the operation whose wait it follows; set_up and
  // call: the call. Empty where nothing was recorded, or it does not apply.
  std::string what = {};
  std::string call = {};  // sync: the call that waited
  std::int64_t what_ns = 0;
  std::uint64_t what_gaps = 0;
  std::optional<std::int64_t> bytes = {};  // sync: of the copy that was waited for, at most
  std::uint64_t queued = 0;                // not_recorded: queued_at the end of the longest gap
};

// Exposed communication or copies: what ran while nothing computed, and what had most of it.
struct ExposedWork {
  std::int64_t ns = 0;
  std::string what;  // the collective, or the kind of copy
  std::int64_t what_ns = 0;
  std::uint64_t calls = 0;            // of `what`, exposed or not
  std::int64_t work_ns = 0;           // of these, summed
  std::optional<std::int64_t> bytes;  // moved by these, where all say so
};

// What one GPU did in the run, each instant once: compute where any runs, else communication, else
// a copy or fill, else nothing. The four add up to the run's length (Wall::length_ns).
struct GpuShares {
  std::optional<std::int64_t> device;
  std::int64_t wall_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t hidden_communication_ns = 0;  // of compute_ns: communication ran alongside
  // Of the kernels of communication, where much of it is hidden: how many blocks they have for most
  // of their time, on so many multiprocessors that compute wants too.
  std::optional<std::int64_t> communication_blocks;
  std::optional<std::int64_t> multiprocessors;
  ExposedWork communication;
  ExposedWork copy;
  std::int64_t idle_ns = 0;
  std::array<IdleTime, kIdleCauseNames.size()> idle;  // by cause; they add up to idle_ns

  std::uint64_t launches = 0;                    // calls that brought work to this GPU
  std::optional<std::int64_t> launch_period_ns;  // median from one to the next of a thread
  std::optional<std::int64_t> kernel_ns;         // median

  // What the GPU spent most time on: a class of kernels, or the kernel where its class says
  // nothing; and how much of the time of all its work.
  std::string largest;
  std::optional<KernelClass> largest_class;  // where it is one
  double largest_pct = 0;

  double pct(std::int64_t ns) const {
    return wall_ns > 0 ? static_cast<double>(ns) / static_cast<double>(wall_ns) * 100 : 0;
  }
  const IdleTime& idle_by(IdleCause cause) const { return idle[static_cast<std::size_t>(cause)]; }

  // Idle before work that was launched late, whatever its thread did.
  std::int64_t host_late_ns() const {
    return idle_by(IdleCause::host_code).ns + idle_by(IdleCause::sync).ns +
           idle_by(IdleCause::set_up).ns + idle_by(IdleCause::call).ns +
           idle_by(IdleCause::launch).ns;
  }
};

// The run of a trace and what each of its GPUs did in it. Holds nothing of the trace.
struct RunShares {
  Wall wall;
  std::vector<GpuShares> gpus;  // as GpuWork::devices has them
  std::uint64_t steps = 0;

  // With two steps or more, the median time from the first work of a step to that of the next:
  // where the host runs ahead, its steps say nothing of how long one takes.
  std::optional<std::int64_t> step_ns;

  // Of the run, the time in which programs of the device were built or loaded (set_up_calls.h).
  std::int64_t build_ns = 0;
};

// Pieces of a GPU's work that had been launched before a moment and had not begun by then.
std::uint64_t queued_at(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                        std::int64_t time_ns);

RunShares run_shares(const trace::Trace& trace, const GpuWork& work, const Wall& wall,
                     const std::vector<trace::SpanId>& steps);

}  // namespace fathom::analyze
