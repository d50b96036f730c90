#include "analyze/critical_path/path_walk.h"

#include <algorithm>
#include <span>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/critical_path/waits.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

// Longer than this, a launch, or a pause between two spans of a thread, wants another explanation.
constexpr std::int64_t kLongestLaunchNs = 100'000;
constexpr std::int64_t kLongestGapNs = 100'000;

// Where the path stands: at a row of GPU work or on a thread.
struct Place {
  enum class Kind : std::uint8_t { none, work, thread } kind = Kind::none;
  std::size_t index = 0;
};

// What a segment of host time is spent on. Each name's role is looked up once.
class HostBounds {
 public:
  explicit HostBounds(const trace::Trace& trace) : spans_(trace.spans), roles_(call_roles(trace)) {
    const HostNames names(trace);
    if (!names.any_loads_data()) return;
    loads_data_.resize(spans_.size());
    for (SpanId id = 0; id < spans_.size(); ++id) {
      const SpanId parent = spans_.parent[id];
      loads_data_[id] = names.loads_data(id) || (parent != kNoSpan && loads_data_[parent]);
    }
  }

  Bound of(SpanId span, std::int64_t duration_ns) const {
    if (span == kNoSpan) return duration_ns > kLongestGapNs ? Bound::unknown : Bound::cpu;
    const SpanKind kind = spans_.kind[span];
    if (kind == SpanKind::sync) return Bound::sync;
    if (kind == SpanKind::runtime_call) {
      const CallRole role = role_of(span);
      if (is_sync(role)) return Bound::sync;
      const bool launches = role == CallRole::launch || role == CallRole::copy;
      return launches ? Bound::launch : Bound::runtime;
    }
    return !loads_data_.empty() && loads_data_[span] ? Bound::data_loading : Bound::cpu;
  }

  CallRole role_of(SpanId span) const { return roles_[spans_.name[span]]; }

 private:
  const trace::Spans& spans_;
  std::vector<CallRole> roles_;
  std::vector<bool> loads_data_;  // the span, or one around it; empty where none does
};

class Walk {
 public:
  Walk(const trace::Trace& trace, const Dependencies& dependencies, const VisitSegment& visit)
      : spans_(trace.spans), on_(dependencies), bounds_(trace), visit_(visit) {
    first_of_stream_.resize(on_.gpu.rows.size());
    for (const GpuStream& stream : on_.gpu.streams) first_of_stream_[stream.first] = true;
    threads_ = threads_taking_part(trace, on_);
    const base::Interval window = window_of(on_, threads_);
    begin_ns_ = window.begin;
    end_ns_ = window.end;
    list_lines();
  }

  void back_from_the_end() {
    now_ = end_ns_;
    last_ = {now_, now_, kNoSpan, Bound::unknown};
    go_to_last_ended(Bound::unknown);
    while (now_ > begin_ns_ && place_.kind != Place::Kind::none) {
      const std::int64_t was = now_;
      if (place_.kind == Place::Kind::work) {
        leave_work();
      } else {
        leave_thread();
      }
      // Work without duration can wait for work of the same instant, and that for it. Whoever goes
      // round in one instant takes up whatever was running before it.
      stalled_ = now_ < was ? 0 : stalled_ + 1;
      if (stalled_ > kPatience) go_to_last_ended(Bound::unknown);
    }
    if (now_ > begin_ns_) take(begin_ns_, kNoSpan, Bound::unknown);
    if (last_.start_ns < last_.end_ns) visit_(last_);
  }

 private:
  static constexpr int kPatience = 64;

  struct Ready {
    std::int64_t time_ns = INT64_MIN;
    Place place;
  };

  static Ready later(const Ready& a, const Ready& b) { return b.time_ns > a.time_ns ? b : a; }

  // Explains the time from `to` to now.
  void take(std::int64_t to, SpanId span, Bound bound) {
    if (to >= now_) return;
    if (last_.span != span || last_.bound != bound) {
      if (last_.start_ns < last_.end_ns) visit_(last_);
      last_ = {to, now_, span, bound};
    }
    last_.start_ns = to;
    now_ = to;
  }

  void go_to(const Ready& next, SpanId waited, Bound bound) {
    take(next.time_ns, waited, bound);
    place_ = next.place;
  }

  // A stream or a thread. Streams come first, each in its order.
  struct Line {
    std::int64_t begin_ns;
    std::int64_t end_ns;  // of its last piece
    std::size_t order;
  };

  void list_lines() {
    for (std::size_t i = 0; i < on_.gpu.streams.size(); ++i) {
      const auto rows = on_.gpu.of(on_.gpu.streams[i]);
      over_.push_back({rows.front().start_ns, rows.back().end_ns, i});
    }
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const HostThread& thread = on_.host.threads[threads_[i]];
      over_.push_back(
          {on_.host.begin_ns(thread), on_.host.end_ns(thread), on_.gpu.streams.size() + i});
    }
    std::sort(over_.begin(), over_.end(), [](const Line& a, const Line& b) {
      return std::pair(a.end_ns, b.order) < std::pair(b.end_ns, a.order);
    });
  }

  // What of a line that began before now ended last before it.
  Ready last_of(const Line& line) const {
    const std::size_t streams = on_.gpu.streams.size();
    if (line.order < streams) {
      const GpuStream& stream = on_.gpu.streams[line.order];
      const auto rows = on_.gpu.of(stream);
      const auto after = std::partition_point(
          rows.begin(), rows.end(), [&](const WorkRow& row) { return row.start_ns < now_; });
      return end_of(stream.first + static_cast<std::size_t>(after - rows.begin()) - 1);
    }
    const std::uint32_t index = threads_[line.order - streams];
    const HostThread& thread = on_.host.threads[index];
    const std::int64_t before = std::min(now_, on_.host.end_ns(thread));
    const std::uint32_t piece = on_.host.piece_before(thread, before);
    const bool is_empty = on_.host.span[piece] == kNoSpan;  // then the piece before is not
    return {is_empty ? on_.host.start_ns[piece] : before, {Place::Kind::thread, index}};
  }

  // Whatever began before now and ended last, GPU work first. Now only goes back: lines that are
  // over before it wait in order of their end, and only the last of those can be the one.
  void go_to_last_ended(Bound bound) {
    while (!over_.empty() && over_.back().end_ns >= now_) {
      going_on_.push_back(over_.back());
      over_.pop_back();
    }
    std::erase_if(going_on_, [&](const Line& line) { return line.begin_ns >= now_; });
    Ready last;
    std::size_t order = SIZE_MAX;
    const auto consider = [&](const Line& line) {
      const Ready ready = last_of(line);
      const bool is_first = ready.time_ns == last.time_ns && line.order < order;
      if (ready.time_ns <= last.time_ns && !is_first) return;
      last = ready;
      order = line.order;
    };
    for (const Line& line : going_on_) consider(line);
    if (!over_.empty()) consider(over_.back());
    stalled_ = 0;
    if (last.place.kind == Place::Kind::none) {
      place_ = {};
      return;
    }
    go_to(last, kNoSpan, bound);
  }

  Ready end_of(std::size_t row) const {
    return {std::min(now_, on_.gpu.rows[row].end_ns), {Place::Kind::work, row}};
  }

  Ready launch_of(const WorkRow& row) const {
    if (row.launch == kNoSpan) return {};
    const std::uint32_t thread = on_.host.thread_of_track[spans_.track[row.launch]];
    if (thread == HostLines::kNoThread) return {};
    const std::int64_t ready = launch_ready_ns(spans_, row);
    return {std::min(now_, ready), {Place::Kind::thread, thread}};
  }

  void leave_work() {
    const std::size_t index = place_.index;
    const WorkRow& row = on_.gpu.rows[index];
    constexpr std::array kBounds = {Bound::compute, Bound::communication, Bound::copy};
    take(row.start_ns, row.span, kBounds[static_cast<std::size_t>(row.type)]);
    Ready next;
    if (!first_of_stream_[index]) next = end_of(index - 1);
    const auto waits =
        std::equal_range(on_.gpu_waits.begin(), on_.gpu_waits.end(),
                         GpuWait{static_cast<std::uint32_t>(index), 0, {}},
                         [](const GpuWait& a, const GpuWait& b) { return a.work < b.work; });
    for (auto wait = waits.first; wait != waits.second; ++wait)
      next = later(next, end_of(wait->on));
    const Ready launch = launch_of(row);
    if (launch.time_ns > next.time_ns && now_ < spans_.end_ns(row.launch)) {
      // It began within its call: what came before is the call's, such as staging what is copied.
      const bool is_copy = bounds_.role_of(row.launch) == CallRole::copy;
      return go_to(launch, row.launch, is_copy ? Bound::copy : Bound::launch);
    }
    next = later(next, launch);
    if (next.place.kind == Place::Kind::none) return go_to_last_ended(Bound::unknown);
    const bool is_long = now_ - next.time_ns > kLongestLaunchNs;
    go_to(next, row.span, is_long ? Bound::unknown : Bound::launch);
  }

  // Back along the thread to where it waited for something, or to its begin.
  void leave_thread() {
    const HostThread& thread = on_.host.threads[place_.index];
    const HandOver* over = last_hand_over();
    if (now_ > on_.host.end_ns(thread)) {  // from a launch call without duration at the very end
      take(on_.host.end_ns(thread), kNoSpan, Bound::unknown);
    }
    if (now_ > on_.host.begin_ns(thread)) {
      for (std::uint32_t piece = on_.host.piece_before(thread, now_);; --piece) {
        if (over != nullptr && over->time_ns == now_) return follow(*over);
        if (wait_in(on_.host.span[piece])) return;
        take(on_.host.start_ns[piece], on_.host.span[piece], bound_of(piece));
        if (piece == thread.first) break;
      }
    }
    if (over != nullptr && over->time_ns == now_) return follow(*over);
    go_to_last_ended(Bound::unknown);
  }

  Bound bound_of(std::uint32_t piece) const {
    return bounds_.of(on_.host.span[piece],
                      on_.host.start_ns[piece + 1] - on_.host.start_ns[piece]);
  }

  // To the thread the path is on, now or before; null where there is none.
  const HandOver* last_hand_over() const {
    const auto here = std::pair(static_cast<std::uint32_t>(place_.index), now_);
    const auto after = std::partition_point(
        on_.hand_overs.begin(), on_.hand_overs.end(),
        [&](const HandOver& over) { return std::pair(over.thread, over.time_ns) <= here; });
    const bool found = after != on_.hand_overs.begin() && std::prev(after)->thread == place_.index;
    return found ? &*std::prev(after) : nullptr;
  }

  // What the waiting thread shows in between is its own time.
  void follow(const HandOver& over) {
    const HostThread& thread = on_.host.threads[over.thread];
    const std::int64_t own_from = std::max(over.from_time_ns, on_.host.begin_ns(thread));
    while (now_ > own_from) {
      const std::uint32_t piece = on_.host.piece_before(thread, now_);
      const SpanId span = on_.host.span[piece];
      take(std::max(own_from, on_.host.start_ns[piece]), span, bound_of(piece));
    }
    go_to({over.from_time_ns, {Place::Kind::thread, over.from}}, kNoSpan, Bound::unknown);
  }

  // Leaves a launch that found the queue full for the work that made room by beginning.
  bool wait_in_queue(SpanId call) {
    const QueueWait* wait = queue_wait_of(on_, call);
    if (wait == nullptr && spans_.parent[call] != kNoSpan) {
      wait = queue_wait_of(on_, spans_.parent[call]);  // a record of it lies within the launch
    }
    if (wait == nullptr || on_.gpu.rows[wait->on].start_ns >= now_) return false;
    go_to({on_.gpu.rows[wait->on].start_ns, {Place::Kind::work, wait->on}}, wait->call,
          Bound::launch);
    return true;
  }

  // Short work that was waited for may seem to begin only after the return, where clocks disagree.
  // What is before it on its stream did not.
  std::size_t begun_by_now(std::size_t row) const {
    constexpr int kFew = 8;
    const auto& rows = on_.gpu.rows;
    for (int i = 0; i < kFew && !first_of_stream_[row]; ++i, --row) {
      const bool is_late = rows[row].start_ns >= now_ && rows[row].start_ns < now_ + kReturnNs;
      if (!is_late) break;
    }
    return row;
  }

  // Leaves a call for the GPU work it waited for last, if it waited for any.
  bool wait_in(SpanId call) {
    if (call == kNoSpan) return false;
    const SpanKind kind = spans_.kind[call];
    if (kind != SpanKind::runtime_call && kind != SpanKind::sync) return false;
    if (!on_.queue_waits.empty() && wait_in_queue(call)) return true;
    const auto waits =
        std::equal_range(on_.host_waits.begin(), on_.host_waits.end(), HostWait{call, 0, {}},
                         [](const HostWait& a, const HostWait& b) { return a.call < b.call; });
    Ready next;
    for (auto wait = waits.first; wait != waits.second; ++wait) {
      const std::size_t row = begun_by_now(wait->on);
      const std::int64_t end = std::min(on_.gpu.rows[row].end_ns, spans_.end_ns(call));
      const bool counts =
          end > spans_.start_ns[call] && end <= now_ && on_.gpu.rows[row].start_ns < now_;
      if (counts) next = later(next, {end, {Place::Kind::work, row}});
    }
    if (next.place.kind == Place::Kind::none) return false;
    go_to(next, call, Bound::sync);
    return true;
  }

  const trace::Spans& spans_;
  const Dependencies& on_;
  HostBounds bounds_;
  std::vector<bool> first_of_stream_;
  std::vector<std::uint32_t> threads_;  // that take part
  std::vector<Line> over_;              // before now, by their end
  std::vector<Line> going_on_;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t now_ = 0;  // all after it is explained
  int stalled_ = 0;
  Place place_;
  PathSegment last_;  // it may go on
  const VisitSegment& visit_;
};

}  // namespace

void walk_path(const trace::Trace& trace, const Dependencies& dependencies,
               const VisitSegment& visit) {
  Walk(trace, dependencies, visit).back_from_the_end();
}

void walk_path(const trace::Trace& trace, const Dependencies& dependencies, const Wall& wall,
               const VisitSegment& visit) {
  const base::IntervalSet apart = base::unite(wall.set_up, wall.unknown);
  const auto visit_part = [&](PathSegment part) {
    const base::Interval time = {part.start_ns, part.end_ns};
    if (time.length() <= 0) return;
    if (base::touching(apart, time).empty()) return visit(part);
    const base::IntervalSet pieces = base::subtract(std::span(&time, 1), apart);
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      visit({piece->begin, piece->end, part.span, part.bound});
    }
  };
  std::int64_t down_to = wall.time.end;
  const auto nothing_until = [&](std::int64_t time_ns) {
    visit_part({time_ns, down_to, kNoSpan, Bound::unknown});
    down_to = std::min(down_to, time_ns);
  };
  walk_path(trace, dependencies, [&](const PathSegment& segment) {
    if (segment.end_ns <= wall.time.begin || segment.start_ns >= wall.time.end) return;
    nothing_until(segment.end_ns);
    const std::int64_t start = std::max(segment.start_ns, wall.time.begin);
    visit_part({start, down_to, segment.span, segment.bound});
    down_to = start;
  });
  nothing_until(wall.time.begin);
}

}  // namespace fathom::analyze
