#include "trace/read/perfetto/clocks.h"

#include <algorithm>

#include "perfetto/fields.h"
#include "trace/read/perfetto/message_fields.h"

namespace fathom::trace {
namespace pf = perfetto;
namespace {

constexpr std::size_t kMaxClocksASnapshot = 16;
constexpr int kMaxHops = 2;

ClockReading read_clock(std::string_view message) {
  ClockReading reading;
  std::uint64_t ticks = 0;
  for (Fields f(message); f.next();) {
    switch (f.number()) {
      case pf::clock::kClockId:
        reading.clock = static_cast<std::uint32_t>(f.value());
        break;
      case pf::clock::kTimestamp:
        ticks = f.value();
        break;
      case pf::clock::kIsIncremental:
        reading.incremental = f.value() != 0;
        break;
      case pf::clock::kUnitMultiplierNs:
        reading.unit_ns = std::max<std::uint64_t>(f.value(), 1);
        break;
      default:
        break;
    }
  }
  reading.time_ns = ticks * reading.unit_ns;
  return reading;
}

bool is_builtin(ClockKey clock) {
  return clock < pf::kFirstSequenceClock;
}

}  // namespace

Clocks::Clocks() : target_(pf::kBoottime) {}

const std::vector<ClockReading>& Clocks::add_snapshot(std::string_view message,
                                                      std::uint32_t sequence) {
  latest_.clear();
  for (Fields f(message); f.next();) {
    if (f.number() == pf::clock_snapshot::kClocks && latest_.size() < kMaxClocksASnapshot) {
      latest_.push_back(read_clock(f.bytes()));
    } else if (f.number() == pf::clock_snapshot::kPrimaryTraceClock && !target_is_named_) {
      target_ = f.value();
      target_is_named_ = true;
    }
  }
  if (!target_is_named_) choose_target();
  for (const ClockReading& to : latest_) {
    if (!is_builtin(to.clock)) continue;
    for (const ClockReading& from : latest_) {
      if (from.clock == to.clock) continue;
      add_edge(clock_key(from.clock, sequence), to.clock,
               {from.time_ns, to.time_ns - from.time_ns});
    }
  }
  ++version_;
  return latest_;
}

// The first snapshot decides, where none names the primary clock.
void Clocks::choose_target() {
  for (const std::uint32_t wish :
       {pf::kBoottime, pf::kMonotonicRaw, pf::kMonotonic, pf::kMonotonicCoarse, pf::kRealtime}) {
    for (const ClockReading& reading : latest_) {
      if (reading.clock != wish) continue;
      target_ = wish;
      target_is_named_ = true;
      return;
    }
  }
}

void Clocks::add_edge(ClockKey from, ClockKey to, Point point) {
  std::vector<Edge>& edges = edges_[from];
  auto edge = std::find_if(edges.begin(), edges.end(), [&](const Edge& e) { return e.to == to; });
  if (edge == edges.end()) edge = edges.insert(edges.end(), {to, {}});
  // One that goes back in time would break the search for the last; one that says the same again
  // is not needed.
  if (!edge->points.empty() &&
      (edge->points.back().time_ns >= point.time_ns || edge->points.back().delta == point.delta)) {
    return;
  }
  edge->points.push_back(point);
}

Clocks::Step Clocks::find_step(ClockKey clock, std::uint64_t time_ns, int hops) const {
  Step best;
  best.until = UINT64_MAX;
  best.found = is_builtin(clock);
  best.reaches_target = clock == target_;
  const auto known = edges_.find(clock);
  if (best.reaches_target || known == edges_.end()) return best;
  const std::vector<Edge>& edges = known->second;
  const bool is_direct =
      std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) { return edge.to == target_; });
  for (const Edge& edge : edges) {
    if ((is_direct || hops == 0) && edge.to != target_) continue;
    const auto after = std::upper_bound(
        edge.points.begin(), edge.points.end(), time_ns,
        [](std::uint64_t time, const Point& point) { return time < point.time_ns; });
    const bool before_all = after == edge.points.begin();
    const Point& point = before_all ? *after : *(after - 1);
    const Step rest = find_step(edge.to, time_ns + point.delta, hops - 1);
    if (best.found && !rest.reaches_target) continue;
    best = rest;
    best.delta += point.delta;
    // The bounds of the rest hold on its own clock.
    best.from =
        std::max(before_all ? 0 : point.time_ns, rest.from == 0 ? 0 : rest.from - point.delta);
    best.until = std::min(after == edge.points.end() ? UINT64_MAX : after->time_ns,
                          rest.until == UINT64_MAX ? UINT64_MAX : rest.until - point.delta);
    if (best.reaches_target) break;
  }
  return best;
}

Clocks::Conversion Clocks::find_conversion(ClockKey clock, std::uint64_t time_ns) {
  Step step = find_step(clock, time_ns, kMaxHops);
  step.version = version_;
  if (!step.reaches_target) missed_.insert(clock);
  return step;
}

bool Clocks::learned_too_late() const {
  return std::any_of(missed_.begin(), missed_.end(),
                     [&](ClockKey clock) { return find_step(clock, 0, kMaxHops).reaches_target; });
}

std::optional<std::int64_t> Clocks::unix_offset() const {
  const Step step = find_step(pf::kRealtime, 0, kMaxHops);
  if (!step.reaches_target || target_ == pf::kRealtime) return std::nullopt;
  return static_cast<std::int64_t>(0 - step.delta);
}

}  // namespace fathom::trace
