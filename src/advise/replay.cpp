#include "advise/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::advise {
namespace {

using analyze::HostThread;
using analyze::WorkRow;

constexpr std::int64_t kNotYet = std::numeric_limits<std::int64_t>::min();

// A thread on its way: where it is in the trace, and when that is now.
struct Progress {
  std::int64_t measured_ns = 0;
  std::int64_t now_ns = 0;
  std::int64_t end_ns = 0;  // where its line ends in the trace
  std::uint32_t stretch = 0;
};

class Run {
 public:
  Run(const ReplayPlan& plan, const Edits& edits)
      : plan_(plan),
        edits_(edits),
        on_(*plan.on),
        stretch_ns_(edits.stretch_ns.empty() ? plan.stretch_ns : edits.stretch_ns) {
    const std::size_t rows = on_.gpu.rows.size();
    start_.assign(rows, kNotYet);
    launched_.assign(rows, kNotYet);
    handed_.assign(on_.hand_overs.size(), kNotYet);
    for (std::size_t i = 0; i < on_.host.threads.size(); ++i) {
      const HostThread& thread = on_.host.threads[i];
      const std::int64_t begin = on_.host.begin_ns(thread);
      threads_.push_back({begin, begin, on_.host.end_ns(thread), plan.first_stretch_of_thread[i]});
    }
  }

  Replay go() {
    for (const Meeting& meeting : plan_.meetings) {
      switch (meeting.kind) {
        case Meeting::Kind::unblocks:
          unblock(meeting);
          break;
        case Meeting::Kind::launch:
          launched_[meeting.index] = reach(meeting.thread, meeting.time_ns);
          break;
        case Meeting::Kind::work_begins:
          begin_work(meeting.index);
          break;
        case Meeting::Kind::returns:
          return_from(meeting);
          break;
        case Meeting::Kind::hands_over:
          handed_[meeting.index] = reach(meeting.thread, meeting.time_ns);
          break;
        case Meeting::Kind::goes_on:
          go_on(meeting);
          break;
      }
    }
    return result();
  }

 private:
  std::int64_t work_ns(std::uint32_t row) const {
    return edits_.work_ns.empty() ? on_.gpu.rows[row].duration_ns() : edits_.work_ns[row];
  }
  std::int64_t end_of(std::uint32_t row) const { return start_[row] + work_ns(row); }

  // Lets a thread go on to a moment of the trace; when that is now. Moments come in order, but for
  // work that began before its thread did, as clocks that disagree make it.
  std::int64_t reach(std::uint32_t index, std::int64_t time_ns) {
    Progress& at = threads_[index];
    if (time_ns < at.measured_ns) return at.now_ns - (at.measured_ns - time_ns);
    const std::int64_t to = std::min(time_ns, at.end_ns);
    if (at.measured_ns < to) {
      at.now_ns += stretch_ns_[at.stretch++];
      at.measured_ns = to;
    }
    return at.now_ns;
  }

  // Moves a thread on without what its pieces take.
  void jump(std::uint32_t index, std::int64_t time_ns, std::int64_t now_ns) {
    Progress& at = threads_[index];
    at.measured_ns = std::max(at.measured_ns, std::min(time_ns, at.end_ns));
    at.now_ns = now_ns;
  }

  std::int64_t own_lag_of(std::uint32_t row) const {
    if (!plan_.fixed_lags.empty() && plan_.fixed_lags[row]) return plan_.lag_ns[row];
    return std::min(kLongestLagNs, edits_.lag_ns.empty() ? plan_.lag_ns[row] : edits_.lag_ns[row]);
  }

  void begin_work(std::uint32_t index) {
    if (!edits_.joined.empty() && edits_.joined[index]) {
      start_[index] = end_of(index - 1);
      return;
    }
    const WorkRow& row = on_.gpu.rows[index];
    const std::int64_t own_lag = own_lag_of(index);
    std::int64_t start = kNotYet;
    // `measured` is when it was ready in the trace: never so late that the trace would not fit.
    const auto consider = [&](std::int64_t ready, std::int64_t measured, HeldBy by,
                              std::int64_t usual) {
      const std::int64_t fits = std::max<std::int64_t>(0, row.start_ns - measured);
      const std::int64_t lag = plan_.held_by[index] == by ? own_lag : std::min(usual, fits);
      start = std::max(start, ready + lag);
    };
    if (!plan_.first_of_stream[index]) {
      // Where a GPU let the two overlap, it does again.
      const std::int64_t end = on_.gpu.rows[index - 1].end_ns;
      const std::int64_t overlap = std::max<std::int64_t>(0, end - row.start_ns);
      consider(std::max(start_[index - 1], end_of(index - 1) - overlap), end, HeldBy::stream,
               plan_.stream_lag_ns);
    }
    for (std::uint32_t i = plan_.first_wait[index]; i < plan_.first_wait[index + 1]; ++i) {
      const std::uint32_t on = on_.gpu_waits[i].on;
      if (start_[on] == kNotYet) continue;
      const std::int64_t end = on_.gpu.rows[on].end_ns;
      const std::int64_t overlap = std::max<std::int64_t>(0, end - row.start_ns);
      consider(std::max(start_[on], end_of(on) - overlap), end, HeldBy::wait, plan_.wait_lag_ns);
    }
    if (launched_[index] != kNotYet) {
      const bool is_own = plan_.held_by[index] == HeldBy::launch;
      start = std::max(start, launched_[index] + (is_own ? own_lag : plan_.launch_lag_of[index]));
    }
    start_[index] = start == kNotYet ? row.start_ns : start;
  }

  bool is_joined(std::uint32_t row) const {
    return row != analyze::QueueWait::kNoWork && !edits_.joined.empty() && edits_.joined[row];
  }

  // A launch that is left out needs no room.
  void unblock(const Meeting& meeting) {
    const analyze::QueueWait& wait = on_.queue_waits[meeting.index];
    const auto to = goes_to(plan_, meeting, threads_[meeting.thread].measured_ns);
    if (!to) return;
    std::int64_t ready = reach(meeting.thread, *to);
    if (!is_joined(wait.work) && start_[wait.on] != kNotYet) {
      const std::int64_t lag = meeting.time_ns - on_.gpu.rows[wait.on].start_ns;
      ready = std::max(ready, start_[wait.on] + lag);
    }
    jump(meeting.thread, meeting.time_ns, ready);
  }

  // The way out of a call takes what it took after the last work it waited for.
  void return_from(const Meeting& meeting) {
    const auto to = goes_to(plan_, meeting, threads_[meeting.thread].measured_ns);
    if (!to) return;
    std::int64_t ready_measured = *to;
    std::int64_t ready = reach(meeting.thread, ready_measured);
    const trace::SpanId call = on_.host_waits[meeting.index].call;
    for (std::size_t i = meeting.index; i < on_.host_waits.size(); ++i) {
      const analyze::HostWait& wait = on_.host_waits[i];
      if (wait.call != call) break;
      const std::int64_t end = on_.gpu.rows[wait.on].end_ns;
      ready_measured = std::max(ready_measured, std::min(end, meeting.time_ns));
      const bool ignored = !edits_.ignored_waits.empty() && edits_.ignored_waits[i];
      if (start_[wait.on] == kNotYet || ignored) continue;
      const std::int64_t beyond = std::max<std::int64_t>(0, end - meeting.time_ns);
      ready = std::max(ready, end_of(wait.on) - beyond);
    }
    jump(meeting.thread, meeting.time_ns, ready + meeting.time_ns - ready_measured);
  }

  void go_on(const Meeting& meeting) {
    const analyze::HandOver& over = on_.hand_overs[meeting.index];
    if (handed_[meeting.index] == kNotYet) return;
    std::int64_t ready = handed_[meeting.index];
    const auto to = goes_to(plan_, meeting, threads_[meeting.thread].measured_ns);
    if (to) ready = std::max(ready, reach(meeting.thread, *to));
    if (threads_[meeting.thread].measured_ns > meeting.time_ns) return;
    jump(meeting.thread, meeting.time_ns, ready + over.time_ns - over.from_time_ns);
  }

  Replay result() {
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
    for (std::uint32_t i = 0; i < start_.size(); ++i) {
      begin = std::min(begin, start_[i]);
      end = std::max(end, end_of(i));
    }
    for (const std::uint32_t thread : plan_.threads) {
      begin = std::min(begin, on_.host.begin_ns(on_.host.threads[thread]));
      end = std::max(end, reach(thread, INT64_MAX));
    }
    Replay found;
    found.wall_ns = begin > end ? 0 : end - begin;
    found.work_start_ns = std::move(start_);
    return found;
  }

  const ReplayPlan& plan_;
  const Edits& edits_;
  const analyze::Dependencies& on_;
  const std::vector<std::int64_t>& stretch_ns_;
  std::vector<Progress> threads_;
  std::vector<std::int64_t> start_;     // of each row
  std::vector<std::int64_t> launched_;  // of each row
  std::vector<std::int64_t> handed_;    // of each hand-over
};

}  // namespace

Replay replay(const ReplayPlan& plan, const Edits& edits) {
  return Run(plan, edits).go();
}

double replay_error(const ReplayPlan& plan, const Replay& found) {
  if (plan.run_ns() <= 0) return 1;
  double shift = 0;
  for (std::size_t i = 0; i < found.work_start_ns.size(); ++i) {
    shift += std::abs(static_cast<double>(found.work_start_ns[i] - plan.on->gpu.rows[i].start_ns));
  }
  const double mean_shift =
      shift / static_cast<double>(std::max<std::size_t>(1, found.work_start_ns.size()));
  const auto off = static_cast<double>(std::abs(found.wall_ns - plan.measured_ns));
  return std::max(off, mean_shift) / static_cast<double>(plan.run_ns());
}

}  // namespace fathom::advise
