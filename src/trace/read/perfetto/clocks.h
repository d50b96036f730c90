#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "perfetto/fields.h"

namespace fathom::trace {

// A clock of the trace: a builtin one is the same everywhere, 64–127 belong to one sequence each.
using ClockKey = std::uint64_t;

inline ClockKey clock_key(std::uint32_t clock, std::uint32_t sequence) {
  constexpr std::uint32_t kLastSequenceClock = 127;
  const bool local = clock >= perfetto::kFirstSequenceClock && clock <= kLastSequenceClock;
  return local ? std::uint64_t{sequence} << 32 | clock : clock;
}

// A clock as one snapshot shows it, in nanoseconds.
struct ClockReading {
  std::uint32_t clock = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t unit_ns = 1;
  bool incremental = false;
};

// What the ClockSnapshots of a trace say, and the way from any clock to the trace's own: the
// primary clock they name, else the steadiest of the first snapshot, else BOOTTIME. A time is
// converted by the last snapshot of its clock that is not later than it. Where no snapshot leads to
// the trace's clock, any builtin clock it leads to will do, so that sequences with clocks of their
// own still line up.
class Clocks {
 public:
  // How to convert times of one clock, as it was found last: add `delta` to those in [from, until).
  struct Conversion {
    std::uint64_t from = 0;
    std::uint64_t until = 0;
    std::uint64_t delta = 0;
    std::uint64_t version = 0;  // of what the snapshots say
  };

  Clocks();

  // Adds a ClockSnapshot message; returns the clocks in it.
  const std::vector<ClockReading>& add_snapshot(std::string_view message, std::uint32_t sequence);

  // Time on the trace's clock; unchanged where nothing leads there. `last` is the caller's memory
  // of the conversion, one per clock, so that most times need no search.
  std::uint64_t to_trace_time(ClockKey clock, std::uint64_t time_ns, Conversion& last) {
    if (last.version != version_ || time_ns < last.from || time_ns >= last.until) {
      last = find_conversion(clock, time_ns);
    }
    return time_ns + last.delta;
  }

  // Whether a time was left unconverted for want of a snapshot that came later in the file: then
  // reading once more, with what is known now, gives better times.
  bool learned_too_late() const;

  // Unix time minus trace time, where a snapshot shows both.
  std::optional<std::int64_t> unix_offset() const;

 private:
  struct Point {
    std::uint64_t time_ns = 0;
    std::uint64_t delta = 0;
  };
  // From one clock to a builtin one: add the delta of the last point that is not later.
  struct Edge {
    ClockKey to = 0;
    std::vector<Point> points;  // by time
  };
  struct Step : Conversion {
    bool found = false;
    bool reaches_target = false;
  };

  void choose_target();
  void add_edge(ClockKey from, ClockKey to, Point point);
  Conversion find_conversion(ClockKey clock, std::uint64_t time_ns);
  Step find_step(ClockKey clock, std::uint64_t time_ns, int hops) const;

  std::unordered_map<ClockKey, std::vector<Edge>> edges_;
  std::unordered_set<ClockKey> missed_;  // clocks that did not lead to the trace's when asked for
  std::vector<ClockReading> latest_;
  ClockKey target_;
  bool target_is_named_ = false;
  std::uint64_t version_ = 1;
};

}  // namespace fathom::trace
