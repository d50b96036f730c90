#include "analyze/run/session.h"
#include "analyze/run/session_bottlenecks.h"
#include "analyze/run/wall.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyze/run/idle_gaps.h"
#include "analyze/run/split.h"
#include "random_trace.h"
#include "trace/scope_parts.h"

namespace fathom::analyze::session_test {

using trace::ScopeParts;
using trace::SpanId;
using trace::SpanKind;

// Puts a trace together span by span, on threads and queues of processes.
class Making {
 public:
  // Returns the row, which `in_scope` refers to.
  SpanId thread_span(std::int64_t pid, const char* name, SpanKind kind, std::int64_t start,
                     std::int64_t end) {
    return add(part_.track(trace::TrackKind::thread, pid, pid), name, kind, start, end);
  }
  SpanId gpu_span(std::int64_t pid, const char* name, SpanKind kind, std::int64_t start,
                  std::int64_t end) {
    return add(part_.track(trace::TrackKind::gpu_stream, pid, 0), name, kind, start, end);
  }
  void in_scope(SpanId span, std::uint64_t scope) { part_.scopes.push_back({span, scope}); }
  void memory(std::int64_t time, std::int64_t bytes) {
    trace::MemoryEvent event;
    event.time_ns = time;
    event.bytes = bytes;
    event.device = trace::MemoryDevice::gpu;
    event.track = part_.track(trace::TrackKind::thread, 1, 1);
    part_.memory.push_back(event);
  }

  trace::RunInfo run;

  trace::Trace trace() {
    std::vector<trace::TracePart> parts;
    parts.push_back(std::move(part_));
    return assemble(std::move(parts), run);
  }

 private:
  SpanId add(trace::TrackId track, const char* name, SpanKind kind, std::int64_t start,
             std::int64_t end) {
    trace::SpanRow row;
    row.track = track;
    row.name = part_.names.intern(name);
    row.kind = kind;
    row.start_ns = start;
    row.duration_ns = end - start;
    part_.spans.push_back(row);
    return static_cast<SpanId>(part_.spans.size() - 1);
  }

  trace::TracePart part_;
};

ProfileSession session_of(const trace::Trace& trace) {
  return session(trace, wall(trace).time, whole_machine(trace), operations(trace), memory(trace),
                 "run.pftrace");
}

TEST(Session, EveryInstantOfTheProgramsLifeBelongsToOnePart) {
  Making making;
  making.run.begin_ns = 1000;
  making.run.end_ns = 2000;
  making.thread_span(1, "clFinish", SpanKind::sync, 1100, 1500);
  making.thread_span(2, "clBuildProgram", SpanKind::runtime_call, 1900, 2100);  // past the end
  making.gpu_span(1, "k", SpanKind::kernel, 1200, 1300);
  making.gpu_span(2, "k", SpanKind::kernel, 1250, 1350);
  making.gpu_span(1, "copy", SpanKind::copy, 1340, 1400);
  const ProfileSession found = session_of(making.trace());
  EXPECT_EQ(found.total_ns, 1000);
  EXPECT_EQ(found.gpu_ns, 150);
  EXPECT_EQ(found.transfer_ns, 50);
  EXPECT_EQ(found.overhead_ns, 100 + 100 + 100);
  EXPECT_EQ(found.cpu_ns, 1000 - 150 - 50 - 300);
  EXPECT_EQ(found.copies, 1U);
  ASSERT_EQ(found.kernels.size(), 1U);
  EXPECT_EQ(found.kernels[0].calls, 2U);
  ASSERT_EQ(found.builds.size(), 1U);
  EXPECT_EQ(found.builds[0].start_ns, 900);
}

TEST(Session, WhatSetsUpProgramsIsABuildOnEveryRuntime) {
  Making making;
  making.thread_span(1, "hipModuleLoadData", SpanKind::runtime_call, 0, 30);
  making.thread_span(1, "cuModuleLoadDataEx", SpanKind::runtime_call, 30, 50);
  making.thread_span(1, "clBuildProgram", SpanKind::runtime_call, 50, 60);
  making.thread_span(1, "hipModuleLaunchKernel", SpanKind::runtime_call, 60, 200);
  const ProfileSession found = session_of(making.trace());
  ASSERT_EQ(found.builds.size(), 3U);
  EXPECT_EQ(found.builds[0].duration_ns, 30);
  EXPECT_EQ(found.total_build_ns, 60);
}

TEST(Session, AKernelsSizeIsGivenWhereAllItsLaunchesAgree) {
  Making making;
  for (const int start : {0, 10, 20}) {
    making.gpu_span(1, "same", SpanKind::kernel, start, start + 5);
    making.gpu_span(1, "grows", SpanKind::kernel, start + 5, start + 9);
  }
  trace::Trace trace = making.trace();
  const trace::NameId shapes[] = {trace.names.intern("global 64, local 8"),
                                  trace.names.intern("global 128, local 8")};
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const bool is_large = trace.name(id) == "grows" && trace.spans.start_ns[id] > 20;
    trace.spans.shape[id] = shapes[is_large ? 1 : 0];
    trace.spans.source[id] = is_large ? 1 : 0;
  }
  trace.args_at = [](std::uint64_t source) {
    return std::string(source == 1 ? R"({"global":"128","local":"8"})"
                                   : R"({"global":"64","local":"8"})");
  };
  const ProfileSession found = session_of(trace);
  ASSERT_EQ(found.kernels.size(), 2U);
  EXPECT_EQ(found.kernels[0].name, "same");
  EXPECT_EQ(found.kernels[0].global_size, "64");
  EXPECT_EQ(found.kernels[1].global_size, "several");
  EXPECT_EQ(found.kernels[1].local_size, "8");
}

TEST(Session, WhereNothingOfTheGpuIsKnownThePartsAreAbsent) {
  Making making;
  making.thread_span(1, "work", SpanKind::scope, 0, 100);
  const ProfileSession found = session_of(making.trace());
  EXPECT_EQ(found.total_ns, 100);
  EXPECT_FALSE(found.gpu_time_ms());
  EXPECT_FALSE(found.cpu_time_ms());
  EXPECT_FALSE(found.scopes.at("work").total_gpu_time_ms());
  EXPECT_FALSE(found.peak_memory_mb());
}

TEST(Session, MemoryIsThePeakAndWhatIsLeft) {
  constexpr std::int64_t kMb = 1024 * 1024;
  Making making;
  for (const auto& [time, mb] : {std::pair{10, 3}, {20, 4}, {30, -3}, {40, 1}}) {
    making.memory(time, mb * kMb);
  }
  const ProfileSession found = session_of(making.trace());
  EXPECT_EQ(found.peak_memory_mb(), 7.0);
  EXPECT_EQ(found.allocated_memory_mb(), 5.0);
}

TEST(Session, ScopesOfDroppedSpansKeepTheRecordersFigures) {
  Making making;
  making.thread_span(1, "work", SpanKind::scope, 0, 100);
  trace::Trace trace = making.trace();
  NamedFigures recorded;
  recorded.operation = "work";
  recorded.calls = 7;
  recorded.total_ns = 700;
  trace.operations.push_back(recorded);
  EXPECT_EQ(session_of(trace).scopes.at("work").calls, 7U);
}

TEST(Session, AWaitForTheGpuIsTheGpusTime) {
  Making making;
  making.gpu_span(1, "k", SpanKind::kernel, 100, 900);
  making.thread_span(1, "clFinish", SpanKind::sync, 50, 950);
  making.thread_span(1, "think", SpanKind::scope, 1000, 1300);
  const ProfileSession found = session_of(making.trace());
  ASSERT_EQ(found.bottlenecks.size(), 4U);
  EXPECT_EQ(found.bottlenecks[0].operation, "k");
  EXPECT_DOUBLE_EQ(found.bottlenecks[0].share, 800.0 / 1250);
  EXPECT_EQ(found.bottlenecks[1].operation, "think");
  EXPECT_EQ(found.bottlenecks[2].operation, "clFinish");
  EXPECT_EQ(found.bottlenecks[2].self_ns, 100);
  EXPECT_EQ(found.bottlenecks[3].operation, kNothingRecorded) << "between clFinish and think";
  EXPECT_EQ(found.bottlenecks[3].self_ns, 50);
  EXPECT_DOUBLE_EQ(found.bottlenecks[3].cumulative_share, 1.0);
}

TEST(Session, HasItsFlameGraphHeaviestFirst) {
  constexpr std::int64_t kMs = 1'000'000;
  Making making;
  making.thread_span(1, "step", SpanKind::scope, 0, 100 * kMs);
  making.thread_span(1, "load", SpanKind::scope, 0, 20 * kMs);
  making.thread_span(1, "train", SpanKind::scope, 20 * kMs, 90 * kMs);
  making.thread_span(1, "blink", SpanKind::scope, 95 * kMs, 95 * kMs + 50'000);  // under 1/1000
  const std::vector<FlameFrame> frames = session_of(making.trace()).flame_graph_data;
  std::vector<std::pair<std::string, std::size_t>> shown;
  for (const FlameFrame& frame : frames) shown.emplace_back(frame.name, frame.parent);
  ASSERT_EQ(frames.size(), 5U);
  EXPECT_EQ(shown[2], (std::pair<std::string, std::size_t>{"step", 1}));
  EXPECT_EQ(shown[3], (std::pair<std::string, std::size_t>{"train", 2}));
  EXPECT_EQ(shown[4], (std::pair<std::string, std::size_t>{"load", 2}));
  EXPECT_DOUBLE_EQ(frames[0].cpu_time_ms(), 100);
  EXPECT_DOUBLE_EQ(frames[3].cpu_time_ms(), 70);
}

TEST(ScopeParts, WorkBelongsToTheScopeThatLaunchedItAndToThoseAround) {
  Making making;
  const SpanId outer = making.thread_span(1, "outer", SpanKind::scope, 0, 100);
  const SpanId inner = making.thread_span(1, "inner", SpanKind::scope, 10, 50);
  making.thread_span(1, "call", SpanKind::runtime_call, 15, 25);
  const SpanId kernel = making.gpu_span(1, "k", SpanKind::kernel, 20, 40);
  const SpanId late = making.gpu_span(1, "k", SpanKind::kernel, 60, 70);
  making.gpu_span(1, "nobody's", SpanKind::kernel, 80, 90);
  making.in_scope(outer, 1);
  making.in_scope(inner, 2);
  making.in_scope(kernel, 2);
  making.in_scope(late, 2);
  const std::vector<ScopeParts> found = scope_parts(making.trace());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].parts, (TimeParts{30, 0, 5, 65}));
  EXPECT_EQ(found[1].parts, (TimeParts{20, 0, 5, 15}));
}

TEST(ScopeParts, NumbersAreAProcessesOwnAndBeginAgainInItsSecondLife) {
  Making making;
  making.in_scope(making.thread_span(1, "first life", SpanKind::scope, 0, 10), 1);
  making.in_scope(making.thread_span(1, "second life", SpanKind::scope, 20, 30), 1);
  making.in_scope(making.thread_span(2, "other", SpanKind::scope, 0, 30), 1);
  making.in_scope(making.gpu_span(1, "k", SpanKind::kernel, 22, 25), 1);
  const trace::Trace trace = making.trace();
  for (const ScopeParts& scope : scope_parts(trace)) {
    EXPECT_EQ(scope.parts.gpu_ns, trace.name(scope.span) == "second life" ? 3 : 0);
  }
}

TEST(ScopeParts, PartsAddUpOnRandomTraces) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    trace::Trace trace = trace::random_small_trace(random);
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      trace.scopes.push_back({id, static_cast<std::uint64_t>(trace::pick(random, 1, 4))});
    }
    for (const ScopeParts& scope : scope_parts(trace)) {
      const TimeParts& parts = scope.parts;
      EXPECT_EQ(parts.gpu_ns + parts.transfer_ns + parts.overhead_ns + parts.cpu_ns,
                trace.spans.duration_ns[scope.span]);
    }
  }
}

TEST(IdleGaps, AreNamedAfterWhatTheHostDid) {
  Making making;
  making.gpu_span(1, "k", SpanKind::kernel, 100, 200);
  making.gpu_span(2, "k", SpanKind::kernel, 150, 300);
  making.gpu_span(1, "k", SpanKind::kernel, 500, 600);
  making.gpu_span(1, "k", SpanKind::kernel, 610, 700);
  making.thread_span(1, "step", SpanKind::scope, 0, 800);
  making.thread_span(1, "think", SpanKind::scope, 310, 480);
  const trace::Trace trace = making.trace();
  const std::vector<GpuGap> gaps = idle_gaps(trace, {100, 700}, 5);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].time, (base::Interval{300, 500}));
  EXPECT_EQ(gaps[0].host, "think");
  EXPECT_EQ(gaps[0].host_ns, 170);
  EXPECT_EQ(gaps[1].host, "step");
  EXPECT_EQ(idle_gaps(trace, {100, 700}, 1).size(), 1U);
}

TEST(IdleGaps, BeginWithTheRunAndEndWithIt) {
  Making making;
  making.gpu_span(1, "k", SpanKind::kernel, 100, 200);
  making.thread_span(1, "start", SpanKind::scope, 0, 100);
  making.thread_span(1, "clFinish", SpanKind::sync, 150, 210);
  const trace::Trace trace = making.trace();
  const std::vector<GpuGap> gaps = idle_gaps(trace, {-40, 500}, 5);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].time, (base::Interval{200, 500}));
  EXPECT_EQ(gaps[0].host, "") << "10 of 300 lie in a call: nothing was recorded";
  EXPECT_EQ(gaps[1].time, (base::Interval{-40, 100}));
  EXPECT_EQ(gaps[1].host, "start");
}

TEST(IdleGaps, AProgramWithoutGpuWorkHasNone) {
  Making making;
  making.thread_span(1, "start", SpanKind::scope, 0, 100);
  EXPECT_TRUE(idle_gaps(making.trace(), {0, 100}, 5).empty());
}

}  // namespace fathom::analyze::session_test
