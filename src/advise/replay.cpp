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
  std::uint32_t piece = 0;
};

class Run {
 public:
  Run(const ReplayPlan& plan, const Edits& edits)
      : plan_(plan), edits_(edits), on_(*plan.on), spans_(plan.trace->spans) {
    const std::size_t rows = on_.gpu.rows.size();
    start_.assign(rows, kNotYet);
    launched_.assign(rows, kNotYet);
    handed_.assign(on_.hand_overs.size(), kNotYet);
    for (const HostThread& thread : on_.host.threads) {
      const std::int64_t begin = on_.host.begin_ns(thread);
      threads_.push_back({begin, begin, thread.first});
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

  // How long the part of a piece from `from` to `to` takes now.
  std::int64_t piece_time(std::uint32_t piece, std::int64_t from, std::int64_t to) const {
    if (!plan_.fixed_pieces.empty() && plan_.fixed_pieces[piece]) return to - from;
    const std::int64_t measured = on_.host.start_ns[piece + 1] - on_.host.start_ns[piece];
    std::int64_t whole = edits_.piece_ns.empty() ? measured : edits_.piece_ns[piece];
    if (on_.host.span[piece] == trace::kNoSpan) whole = std::min(whole, kLongestLagNs);
    if (whole == measured) return to - from;
    return static_cast<std::int64_t>(static_cast<double>(whole) * static_cast<double>(to - from) /
                                     static_cast<double>(measured));
  }

  // Lets a thread go on to a moment of the trace; when that is now. Moments come in order, but for
  // work that began before its thread did, as clocks that disagree make it.
  std::int64_t reach(std::uint32_t index, std::int64_t time_ns) {
    const HostThread& thread = on_.host.threads[index];
    Progress& at = threads_[index];
    if (time_ns < at.measured_ns) return at.now_ns - (at.measured_ns - time_ns);
    const std::int64_t to = std::min(time_ns, on_.host.end_ns(thread));
    while (at.measured_ns < to) {
      const std::int64_t end = std::min(to, on_.host.start_ns[at.piece + 1]);
      at.now_ns += piece_time(at.piece, at.measured_ns, end);
      at.measured_ns = end;
      if (end == on_.host.start_ns[at.piece + 1] && at.piece + 1 < thread.last) ++at.piece;
    }
    return at.now_ns;
  }

  // Moves a thread on without what its pieces take.
  void jump(std::uint32_t index, std::int64_t time_ns, std::int64_t now_ns) {
    const HostThread& thread = on_.host.threads[index];
    Progress& at = threads_[index];
    at.measured_ns = std::max(at.measured_ns, std::min(time_ns, on_.host.end_ns(thread)));
    at.now_ns = now_ns;
    while (at.piece + 1 < thread.last && on_.host.start_ns[at.piece + 1] <= at.measured_ns) {
      ++at.piece;
    }
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
    const auto waits = std::equal_range(
        on_.gpu_waits.begin(), on_.gpu_waits.end(), analyze::GpuWait{index, 0, {}},
        [](const analyze::GpuWait& a, const analyze::GpuWait& b) { return a.work < b.work; });
    for (auto wait = waits.first; wait != waits.second; ++wait) {
      if (start_[wait->on] == kNotYet) continue;
      const std::int64_t end = on_.gpu.rows[wait->on].end_ns;
      const std::int64_t overlap = std::max<std::int64_t>(0, end - row.start_ns);
      consider(std::max(start_[wait->on], end_of(wait->on) - overlap), end, HeldBy::wait,
               plan_.wait_lag_ns);
    }
    if (launched_[index] != kNotYet) {
      consider(launched_[index], launched_measured(row), HeldBy::launch, plan_.launch_lag_ns);
    }
    start_[index] = start == kNotYet ? row.start_ns : start;
  }

  std::int64_t launched_measured(const WorkRow& row) const {
    const std::int64_t end = spans_.end_ns(row.launch);
    return std::min(row.start_ns, end <= row.start_ns ? end : spans_.start_ns[row.launch]);
  }

  bool is_joined(std::uint32_t row) const {
    return row != analyze::QueueWait::kNoWork && !edits_.joined.empty() && edits_.joined[row];
  }

  // A launch that is left out needs no room.
  void unblock(const Meeting& meeting) {
    const analyze::QueueWait& wait = on_.queue_waits[meeting.index];
    const std::int64_t reached = threads_[meeting.thread].measured_ns;
    if (reached >= meeting.time_ns) return;
    const std::int64_t begin = std::max(spans_.start_ns[wait.call], reached);
    std::int64_t ready =
        reach(meeting.thread, std::min(meeting.time_ns, begin + plan_.launch_call_ns));
    if (!is_joined(wait.work) && start_[wait.on] != kNotYet) {
      const std::int64_t lag = meeting.time_ns - on_.gpu.rows[wait.on].start_ns;
      ready = std::max(ready, start_[wait.on] + lag);
    }
    jump(meeting.thread, meeting.time_ns, ready);
  }

  // The way out of a call takes what it took after the last work it waited for.
  void return_from(const Meeting& meeting) {
    const trace::SpanId call = meeting.index;
    if (threads_[meeting.thread].measured_ns >= meeting.time_ns) return;
    // Another call may have reached into it.
    std::int64_t ready_measured =
        std::max(spans_.start_ns[call], threads_[meeting.thread].measured_ns);
    std::int64_t ready = reach(meeting.thread, ready_measured);
    const auto waits = std::equal_range(
        on_.host_waits.begin(), on_.host_waits.end(), analyze::HostWait{call, 0, {}},
        [](const analyze::HostWait& a, const analyze::HostWait& b) { return a.call < b.call; });
    for (auto wait = waits.first; wait != waits.second; ++wait) {
      const auto index = static_cast<std::size_t>(wait - on_.host_waits.begin());
      const std::int64_t end = on_.gpu.rows[wait->on].end_ns;
      ready_measured = std::max(ready_measured, std::min(end, meeting.time_ns));
      const bool ignored = !edits_.ignored_waits.empty() && edits_.ignored_waits[index];
      if (start_[wait->on] == kNotYet || ignored) continue;
      const std::int64_t beyond = std::max<std::int64_t>(0, end - meeting.time_ns);
      ready = std::max(ready, end_of(wait->on) - beyond);
    }
    jump(meeting.thread, meeting.time_ns, ready + meeting.time_ns - ready_measured);
  }

  void go_on(const Meeting& meeting) {
    const analyze::HandOver& over = on_.hand_overs[meeting.index];
    if (handed_[meeting.index] == kNotYet) return;
    std::int64_t ready = handed_[meeting.index];
    const HostThread& thread = on_.host.threads[meeting.thread];
    const bool has_begun = over.idle_since_ns > on_.host.begin_ns(thread);
    if (has_begun) ready = std::max(ready, reach(meeting.thread, over.idle_since_ns));
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
  const trace::Spans& spans_;
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
