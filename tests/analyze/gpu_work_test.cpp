#include "analyze/hta/gpu_work.h"

#include <gtest/gtest.h>

#include "analyze/gpu_trace.h"
#include "analyze/operations/steps.h"
#include "analyze/random_gpu_trace.h"
#include "analyze/trace_maker.h"

namespace fathom::analyze::gpu_work_test {

using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;
using trace::Trace;

std::string launch_name(const Trace& trace, const WorkRow& row) {
  return row.launch == kNoSpan ? "" : std::string(trace.name(row.launch));
}

TEST(GpuWork, EveryPieceOfWorkSeesAllCallsOfItsCorrelation) {
  const Trace trace = TraceMaker()
                          .call("first", 0, 5, 1)
                          .call("second", 50, 5, 1)
                          .gpu("a", 10, 5, 1)
                          .gpu("b", 20, 5, 1)
                          .gpu("c", 60, 5, 1)
                          .make();
  const GpuWork work = gpu_work(trace);
  ASSERT_EQ(work.rows.size(), 3U);
  EXPECT_EQ(launch_name(trace, work.rows[0]), "first");
  EXPECT_EQ(launch_name(trace, work.rows[1]), "first");
  EXPECT_EQ(launch_name(trace, work.rows[2]), "second");
}

TEST(GpuWork, WorkOfAnotherCorrelationBetweenChangesNothing) {
  const Trace trace = TraceMaker()
                          .call("first", 0, 5, 1)
                          .call("other", 6, 5, 2)
                          .call("second", 50, 5, 1)
                          .gpu("a", 10, 5, 1)
                          .gpu("x", 20, 5, 2)
                          .gpu("b", 30, 5, 1)
                          .gpu("c", 60, 5, 1)
                          .gpu("nobody's", 70, 5, 9)
                          .gpu("d", 80, 5, 1)
                          .make();
  std::vector<std::string> launches;
  for (const WorkRow& row : gpu_work(trace).rows) launches.push_back(launch_name(trace, row));
  EXPECT_EQ(launches,
            (std::vector<std::string>{"first", "other", "first", "second", "", "second"}));
}

// The last call that began before the work did, or, where all began later, the first of them.
SpanId launch_by_looking_at_all(const Trace& trace, const WorkRow& row) {
  SpanId before = kNoSpan;
  SpanId after = kNoSpan;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const std::int64_t correlation = trace.spans.correlation[row.span];
    if (correlation == trace::kNoCorrelation || trace.spans.correlation[id] != correlation)
      continue;
    const bool waits_for_what_it_launches =
        trace.spans.kind[id] == SpanKind::sync &&
        trace.tracks[trace.spans.track[id]].kind == trace::TrackKind::thread;
    if (trace.spans.kind[id] != SpanKind::runtime_call && !waits_for_what_it_launches) continue;
    const auto start = [&](SpanId call) { return trace.spans.start_ns[call]; };
    if (start(id) <= row.start_ns) {
      if (before == kNoSpan || start(id) > start(before)) before = id;
    } else if (after == kNoSpan || start(id) < start(after)) {
      after = id;
    }
  }
  return before != kNoSpan ? before : after;
}

TEST(GpuWork, LaunchesAreThoseOfLookingAtAllCalls) {
  std::mt19937 random(11);
  std::size_t shared = 0;
  for (int round = 0; round < 2000; ++round) {
    const Trace trace =
        round % 2 == 0 ? trace::random_gpu_trace(random) : analyze::random_gpu_trace(random);
    for (const WorkRow& row : gpu_work(trace).rows) {
      const SpanId expected = launch_by_looking_at_all(trace, row);
      ASSERT_EQ(row.launch == kNoSpan, expected == kNoSpan);
      if (expected == kNoSpan) continue;
      ASSERT_EQ(trace.spans.start_ns[row.launch], trace.spans.start_ns[expected]);
      ++shared;
    }
  }
  EXPECT_GT(shared, 1000U);
}

TEST(Steps, AreOneANumberAsTheHostSawThem) {
  const Trace trace = GpuTrace()
                          .host(SpanKind::annotation, "ProfilerStep#2", 100, 90)
                          .host(SpanKind::annotation, "ProfilerStep#1", 0, 90)
                          .host(SpanKind::cpu_op, "ProfilerStep#3", 200, 90)  // as in 2021
                          .host(SpanKind::python, "ProfilerStep#2", 110, 10)
                          .host(SpanKind::annotation, "step", 300, 90)
                          .work("ProfilerStep#4", 310, 90, 7, SpanKind::gpu_annotation)
                          .take();
  std::vector<std::string> names;
  const std::vector<SpanId> steps = step_spans(trace);
  for (const SpanId id : steps) names.emplace_back(trace.name(id));
  EXPECT_EQ(names,
            (std::vector<std::string>{"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"}));
  EXPECT_EQ(whole_steps_end(trace, steps), 200);
}

TEST(Steps, TheOnlyStepIsNotLeftOut) {
  const Trace trace = GpuTrace().host(SpanKind::annotation, "ProfilerStep#1", 0, 90).take();
  EXPECT_EQ(whole_steps_end(trace, step_spans(trace)), std::nullopt);
}

}  // namespace fathom::analyze::gpu_work_test
