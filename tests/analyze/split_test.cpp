#include "analyze/run/split.h"

#include <gtest/gtest.h>

#include "random_trace.h"

namespace fathom::analyze::split_test {

using trace::SpanKind;
using trace::TrackKind;

struct Given {
  SpanKind kind;
  std::int64_t start;
  std::int64_t duration;
  TrackKind track = TrackKind::thread;
};

trace::Trace trace_of(const std::vector<Given>& spans) {
  trace::TracePart part;
  for (const Given& given : spans) {
    trace::SpanRow row;
    row.track = part.track(given.track, 1, 1);
    row.name = part.names.intern("span");
    row.kind = given.kind;
    row.start_ns = given.start;
    row.duration_ns = given.duration;
    part.spans.push_back(row);
  }
  std::vector<trace::TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), {});
}

TimeParts split_one(const trace::Trace& trace, base::Interval window) {
  return whole_machine(trace).within(window);
}

TEST(Split, AnInstantBelongsToTheFirstThatHolds) {
  const trace::Trace trace = trace_of({{SpanKind::kernel, 10, 10, TrackKind::gpu_stream},
                                       {SpanKind::copy, 15, 10, TrackKind::gpu_stream},
                                       {SpanKind::runtime_call, 5, 30},
                                       {SpanKind::cpu_op, 0, 50}});
  EXPECT_EQ(split_one(trace, {0, 50}), (TimeParts{10, 5, 15, 20}));
}

TEST(Split, WaitingOfAStreamIsNoTimeOfTheHost) {
  const trace::Trace trace = trace_of({{SpanKind::sync, 0, 10, TrackKind::gpu_stream}});
  EXPECT_EQ(split_one(trace, {0, 10}), (TimeParts{0, 0, 0, 10}));
}

// The same answer for a run's session, its page and its slices: only threads make calls.
TEST(Split, OverheadIsAThreadInsideTheGpuRuntimeAndNothingElse) {
  const trace::Trace trace = trace_of({{SpanKind::runtime_call, 0, 10},
                                       {SpanKind::sync, 20, 10},
                                       {SpanKind::overhead, 40, 10},
                                       {SpanKind::runtime_call, 60, 10, TrackKind::async}});
  EXPECT_EQ(split_one(trace, {0, 100}), (TimeParts{0, 0, 20, 80}));
}

TEST(Split, AnEmptyTraceIsAllCpu) {
  EXPECT_EQ(split_one(trace_of({}), {3, 8}), (TimeParts{0, 0, 0, 5}));
}

// Instant by instant, as the definition says it.
TimeParts brute_force(const trace::Trace& trace, base::Interval window) {
  TimeParts parts;
  for (std::int64_t t = window.begin; t < window.end; ++t) {
    const auto runs = [&](std::initializer_list<SpanKind> kinds, bool on_host) {
      for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
        const bool holds = trace.spans.start_ns[id] <= t && t < trace.spans.end_ns(id);
        const bool is_host = trace.tracks[trace.spans.track[id]].kind == trace::TrackKind::thread;
        if (!holds || (on_host && !is_host)) continue;
        for (const SpanKind kind : kinds) {
          if (trace.spans.kind[id] == kind) return true;
        }
      }
      return false;
    };
    if (runs({SpanKind::kernel, SpanKind::fill}, false)) {
      ++parts.gpu_ns;
    } else if (runs({SpanKind::copy}, false)) {
      ++parts.transfer_ns;
    } else if (runs({SpanKind::runtime_call, SpanKind::sync}, true)) {
      ++parts.overhead_ns;
    } else {
      ++parts.cpu_ns;
    }
  }
  return parts;
}

TEST(Split, IsTheDefinitionOnRandomTraces) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const trace::Trace trace = trace::random_small_trace(random);
    std::vector<base::Interval> windows;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t begin = trace::pick(random, -5, 40);
      windows.push_back({begin, begin + trace::pick(random, 0, 20)});
    }
    const base::TimeSplit machine = whole_machine(trace);
    for (const base::Interval& window : windows) {
      ASSERT_EQ(machine.within(window), brute_force(trace, window)) << "round " << round;
    }
  }
}

}  // namespace fathom::analyze::split_test
