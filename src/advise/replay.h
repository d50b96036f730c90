#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/critical_path/dependencies.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::advise {

// Longer lags of work and pauses of threads have no known cause.
inline constexpr std::int64_t kLongestLagNs = 100'000;

// What held a piece of GPU work back.
enum class HeldBy : std::uint8_t { nothing, stream, wait, launch };

// A moment on a thread's line at which the thread and something else meet.
struct Meeting {
  enum class Kind : std::uint8_t {
    unblocks,     // index: queue wait of a launch that is over here
    launch,       // index: row of GPU work that may begin from here on
    work_begins,  // index: row of GPU work; no thread
    returns,      // index: first host wait of a call that is over here
    hands_over,   // index: hand-over that this thread lets happen
    goes_on,      // index: hand-over after which this thread goes on
  };
  std::int64_t time_ns = 0;
  std::uint32_t index = 0;
  std::uint32_t thread = 0;
  Kind kind = Kind::launch;
};

// A trace made ready to be replayed any number of times. Refers to the dependencies and the trace
// it was made of.
struct ReplayPlan {
  const trace::Trace* trace = nullptr;
  const analyze::Dependencies* on = nullptr;
  std::vector<Meeting> meetings;     // in order of time: all that one waits for comes before it
  std::vector<HeldBy> held_by;       // of each row, as measured
  std::vector<std::int64_t> lag_ns;  // of each row: from when nothing held it back to its start
  // Of each row that something else held back: how long after its launch it begins if that does.
  std::vector<std::uint32_t> launch_lag_of;
  std::vector<bool> first_of_stream;      // of each row
  std::vector<std::uint32_t> first_wait;  // of each row, in Dependencies::gpu_waits; one more
  std::vector<std::uint32_t> threads;     // that take part (dependencies.h)
  // Where a thread stops on its way does not depend on edits. What it goes through between two
  // stops is a stretch: by thread and time, an endless one after each thread.
  std::vector<base::Interval> stretches;
  std::vector<std::int64_t> stretch_ns;  // how long each takes without edits
  // Of each piece: the first to end after it began. With kWhole where that one holds all of it, as
  // most do, and nothing keeps it from being edited.
  std::vector<std::uint32_t> first_stretch;
  static constexpr std::uint32_t kWhole = 1U << 31;
  std::vector<std::uint32_t> first_stretch_of_thread;
  // Pieces of host time and rows that nothing can change, because they are outside of the run:
  // set-up, and the lag of the first work of an excerpt. Empty where there are none.
  std::vector<bool> fixed_pieces;
  std::vector<bool> fixed_lags;
  std::int64_t stream_lag_ns = 0;  // what is usual: medians over the rows held back by each
  std::int64_t wait_lag_ns = 0;
  std::int64_t launch_lag_ns = 0;
  std::int64_t launch_call_ns = 0;  // median of the launches that found room in their queue
  std::int64_t measured_ns = 0;     // from the first start to the last end of these and the work
  std::int64_t outside_ns = 0;      // of these, not part of the run

  std::int64_t run_ns() const { return measured_ns - outside_ns; }
};

// `outside` is time that is replayed as it was, whatever the edits, and is no part of the run
// (Wall::set_up, Wall::unknown).
ReplayPlan plan_replay(const trace::Trace& trace, const analyze::Dependencies& dependencies,
                       const base::IntervalSet& outside = {});

// What is changed before a replay. An empty column changes nothing.
struct Edits {
  std::vector<std::int64_t> work_ns;   // duration of each row of GPU work
  std::vector<std::int64_t> piece_ns;  // duration of each piece of host time (host_lines.h),
  std::vector<std::int64_t>
      stretch_ns;                    // and of each stretch of them, which scale_piece keeps true
  std::vector<std::int64_t> lag_ns;  // of each row: as in the plan
  std::vector<bool> ignored_waits;   // host waits that are left out (Dependencies::host_waits)
  std::vector<bool> joined;          // rows that are part of the row before them: no launch, no lag
  std::size_t last_piece = 0;        // that scale_host found; the next is mostly near
};

struct Replay {
  std::int64_t wall_ns = 0;
  std::vector<std::int64_t> work_start_ns;  // of each row, with the first start as in the trace
};

// Runs the graph again: every thread goes through its pieces and every stream through its work as
// soon as what they wait for is over.
//
//   GPU work   begins when its stream, the work it waits for and its launch let it, and the lag of
//              whichever was last has passed: the measured one, if that was the last in the trace
//              too, else what is usual in this trace.
//   A call     that waits returns when its work is over, and its own way out has passed.
//   A launch   that found the queue full takes what a launch usually takes, and returns as long
//              after the work that made room has begun as it did.
//   A thread   that was handed over to goes on as long after the other as it did.
//
// Lags over 100 µs have no known cause: no more than 100 µs of them are replayed, but for those
// outside of the run. So a trace that
// is not understood comes out too short, and `is_trustworthy` says so. What a rank waits for others
// in a collective stays as long as it was.
Replay replay(const ReplayPlan& plan, const Edits& edits = {});

// The moment of the trace up to which a thread that is at `measured_ns` goes by itself before a
// meeting; none where it is past the meeting.
std::optional<std::int64_t> goes_to(const ReplayPlan& plan, const Meeting& meeting,
                                    std::int64_t measured_ns);

// How long a piece takes in a stretch, if all of it takes `whole_ns` now. Asked for every piece
// that is edited, and most lie within one stretch.
inline std::int64_t time_in_stretch(const ReplayPlan& plan, std::size_t piece, std::size_t stretch,
                                    std::int64_t whole_ns) {
  const analyze::HostLines& host = plan.on->host;
  const std::int64_t begin = host.start_ns[piece];
  const std::int64_t end = host.start_ns[piece + 1];
  const std::int64_t shared =
      std::min(end, plan.stretches[stretch].end) - std::max(begin, plan.stretches[stretch].begin);
  if (!plan.fixed_pieces.empty() && plan.fixed_pieces[piece]) return shared;
  if (host.span[piece] == trace::kNoSpan) whole_ns = std::min(whole_ns, kLongestLagNs);
  if (shared == end - begin) return whole_ns;
  if (whole_ns == end - begin) return shared;
  return static_cast<std::int64_t>(static_cast<double>(whole_ns) * static_cast<double>(shared) /
                                   static_cast<double>(end - begin));
}

// How far the replay without edits is from what was measured, as a share of the run: in its
// length, or in when work began, on average, whichever is more. 1 where nothing took any time.
double replay_error(const ReplayPlan& plan, const Replay& unchanged);

// Gains are told from a replay that is no further off than this; up to the second they are rough.
inline constexpr double kTrustedError = 0.03;
inline constexpr double kRoughError = 0.10;

inline bool is_trustworthy(const ReplayPlan& plan, const Replay& unchanged) {
  return replay_error(plan, unchanged) <= kTrustedError;
}

// The same work, `factor` times as long: all host pieces within a span of the host, one piece, a
// row of GPU work, or the lag before it.
void scale_host(Edits& edits, const ReplayPlan& plan, trace::SpanId span, double factor);
void scale_piece(Edits& edits, const ReplayPlan& plan, std::size_t piece, double factor);
void scale_work(Edits& edits, const ReplayPlan& plan, std::uint32_t row, double factor);
void scale_lag(Edits& edits, const ReplayPlan& plan, std::uint32_t row, double factor);

// The row takes this much less time, and no less than none. What several edits of one row take away
// adds up.
void shorten_work(Edits& edits, const ReplayPlan& plan, std::uint32_t row, double by_ns);

// The call no longer waits for GPU work.
void ignore_waits_of(Edits& edits, const ReplayPlan& plan, trace::SpanId call);

// The row, which is not the first of its stream, becomes part of the row before it.
void join_to_row_before(Edits& edits, const ReplayPlan& plan, std::uint32_t row);

// The pieces of a thread that lie within a stretch of time, or share any of it, as [first, last).
// They are sought from piece `near` on: who goes through a run in order names the last that it got.
std::pair<std::size_t, std::size_t> pieces_within(const analyze::HostLines& host,
                                                  std::uint32_t thread, base::Interval time,
                                                  std::size_t near = 0);
std::pair<std::size_t, std::size_t> pieces_touching(const analyze::HostLines& host,
                                                    std::uint32_t thread, base::Interval time,
                                                    std::size_t near = 0);

}  // namespace fathom::advise
