#include "advise/replay.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "advise/machine.h"
#include "analyze/run/wall.h"
#include "analyze/trace_maker.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::advise::replay_test {

using analyze::TraceMaker;
using trace::Trace;

std::vector<Action> random_program(std::mt19937& random) {
  std::vector<Action> program = {{Action::Kind::compute, 0, 20 * kUs}};
  for (int i = 0; i < 60; ++i) {
    const std::int64_t kind = trace::pick(random, 0, 7);
    const std::int64_t duration = trace::pick(random, 6, 80) * kUs;
    const auto stream = static_cast<std::size_t>(trace::pick(random, 0, 1));
    if (kind == 0) program.push_back({Action::Kind::synchronize, 0, 0});
    if (kind == 1 || kind == 2) program.push_back({Action::Kind::compute, 0, duration});
    if (kind > 2) program.push_back({Action::Kind::launch, stream, duration});
  }
  program.push_back({Action::Kind::synchronize, 0, 0});
  return program;
}

bool is_trusted(const ReplayPlan& plan) {
  return is_trustworthy(plan, replay(plan));
}

TEST(Replay, WithoutEditsReproducesWhatWasMeasured) {
  std::mt19937 random(31);
  for (int round = 0; round < 300; ++round) {
    const Trace trace = run_on_a_machine(random_program(random));
    const analyze::Dependencies on = analyze::dependencies(trace);
    const ReplayPlan plan = plan_replay(trace, on);
    const Replay found = replay(plan);
    ASSERT_EQ(found.wall_ns, plan.measured_ns);
    for (std::size_t i = 0; i < on.gpu.rows.size(); ++i) {
      ASSERT_EQ(found.work_start_ns[i], on.gpu.rows[i].start_ns);
    }
    ASSERT_TRUE(is_trustworthy(plan, found));
  }
}

TEST(Replay, IsNeverLongerThanARandomTraceWithoutEdits) {
  std::mt19937 random(37);
  for (int round = 0; round < 1000; ++round) {
    const Trace trace = analyze::random_gpu_trace(random);
    const analyze::Dependencies on = analyze::dependencies(trace);
    const ReplayPlan plan = plan_replay(trace, on);
    const Replay found = replay(plan);
    ASSERT_LE(found.wall_ns, plan.measured_ns) << "round " << round;
    ASSERT_GE(found.wall_ns, 0);
  }
}

// What is predicted for faster kernels is what the machine does when they are faster.
TEST(Replay, OfFasterKernelsIsWhatTheMachineWouldDo) {
  std::mt19937 random(41);
  for (int round = 0; round < 200; ++round) {
    std::vector<Action> program = random_program(random);
    const Trace before = run_on_a_machine(program);
    const analyze::Dependencies on = analyze::dependencies(before);
    const ReplayPlan plan = plan_replay(before, on);
    Edits edits;
    for (std::uint32_t i = 0; i < on.gpu.rows.size(); ++i) scale_work(edits, plan, i, 0.5);
    for (Action& action : program) {
      if (action.kind == Action::Kind::launch) action.duration_ns /= 2;
    }
    const std::int64_t truth = wall_of(run_on_a_machine(program));
    const auto gain = static_cast<double>(plan.measured_ns - truth);
    const auto predicted = static_cast<double>(plan.measured_ns - replay(plan, edits).wall_ns);
    ASSERT_NEAR(predicted, gain, 0.05 * gain + 10 * kUs) << "round " << round;
  }
}

TEST(Replay, OfAFasterHostIsWhatTheMachineWouldDo) {
  std::mt19937 random(43);
  for (int round = 0; round < 200; ++round) {
    std::vector<Action> program = random_program(random);
    const Trace before = run_on_a_machine(program);
    const analyze::Dependencies on = analyze::dependencies(before);
    const ReplayPlan plan = plan_replay(before, on);
    Edits edits;
    for (trace::SpanId id = 0; id < before.spans.size(); ++id) {
      if (before.name(id) == "op") scale_host(edits, plan, id, 0.25);
    }
    for (Action& action : program) {
      if (action.kind == Action::Kind::compute) action.duration_ns /= 4;
    }
    const std::int64_t truth = wall_of(run_on_a_machine(program));
    const auto gain = static_cast<double>(plan.measured_ns - truth);
    const auto predicted = static_cast<double>(plan.measured_ns - replay(plan, edits).wall_ns);
    ASSERT_NEAR(predicted, gain, 0.05 * gain + 10 * kUs) << "round " << round;
  }
}

TEST(Replay, WithoutAWaitLetsTheHostRunAhead) {
  // Work, a needless synchronisation, preparation on the host, more work.
  std::vector<Action> program = {{Action::Kind::launch, 0, 500 * kUs},
                                 {Action::Kind::synchronize, 0, 0},
                                 {Action::Kind::compute, 0, 300 * kUs},
                                 {Action::Kind::launch, 0, 500 * kUs},
                                 {Action::Kind::synchronize, 0, 0}};
  const Trace before = run_on_a_machine(program);
  const analyze::Dependencies on = analyze::dependencies(before);
  const ReplayPlan plan = plan_replay(before, on);
  Edits edits;
  edits.ignored_waits.resize(on.host_waits.size());
  edits.ignored_waits[0] = true;
  const std::int64_t predicted = replay(plan, edits).wall_ns;
  program.erase(program.begin() + 1);
  EXPECT_NEAR(static_cast<double>(predicted),
              static_cast<double>(wall_of(run_on_a_machine(program))), 10 * kUs);
}

TEST(Replay, OfATraceThatIsNotUnderstoodIsNotTrusted) {
  const Trace trace = TraceMaker()
                          .call("cudaLaunchKernel", 0, 5 * kUs, 1)
                          .gpu("late for no reason", 5'000 * kUs, 10 * kUs, 1)
                          .make();
  const analyze::Dependencies on = analyze::dependencies(trace);
  EXPECT_FALSE(is_trusted(plan_replay(trace, on)));
}

// An excerpt: what ran before its first work was not recorded, and stays as it was.
TEST(Replay, KeepsWhatIsOutsideOfTheRun) {
  const Trace trace = TraceMaker()
                          .call("cudaMalloc", 0, 20'000 * kUs)
                          .call("cudaLaunchKernel", 20'000 * kUs, 5 * kUs, 1)
                          .gpu("first", 60'000 * kUs, 1'000 * kUs, 1)
                          .make();
  const analyze::Dependencies on = analyze::dependencies(trace);
  const base::IntervalSet outside = {{0, 20'000 * kUs}, {20'005 * kUs, 60'000 * kUs}};
  const ReplayPlan plan = plan_replay(trace, on, outside);
  EXPECT_EQ(plan.run_ns(), 1'005 * kUs);
  EXPECT_EQ(replay(plan).wall_ns, plan.measured_ns);
  Edits edits;
  scale_host(edits, plan, 0, 0);
  scale_lag(edits, plan, 0, 0);
  scale_work(edits, plan, 0, 0.5);
  EXPECT_EQ(replay(plan, edits).wall_ns, plan.measured_ns - 500 * kUs);
}

TEST(Replay, OfNothingIsNothing) {
  const Trace trace = TraceMaker().make();
  const analyze::Dependencies on = analyze::dependencies(trace);
  EXPECT_EQ(replay(plan_replay(trace, on)).wall_ns, 0);
  EXPECT_FALSE(is_trusted(plan_replay(trace, on)));
}

TEST(Replay, ReproducesRealRunsOrSaysThatItDoesNot) {
  std::vector<std::string> files;
  for (const char* folder : {"kineto", "nsys", "expert"}) {
    for (const std::string& file : trace::corpus_files(folder)) {
      if (!file.ends_with(".pickle")) files.push_back(file);
    }
  }
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Trace trace = trace::read_trace(file);
    const analyze::Dependencies on = analyze::dependencies(trace);
    const analyze::Wall wall = analyze::wall(trace);
    const ReplayPlan plan = plan_replay(trace, on, base::unite(wall.set_up, wall.unknown));
    const Replay found = replay(plan);
    // A sampled trace lacks most of its calls, one file holds three operations of a program that
    // was elsewhere, and one waits for something not recorded with hundreds of launches queued.
    bool is_understood = true;
    for (const char* name : {"sampled", "event_sync_multi", "negq"}) {
      if (file.find(name) != std::string::npos) is_understood = false;
    }
    EXPECT_EQ(is_trustworthy(plan, found), is_understood)
        << found.wall_ns << " instead of " << plan.measured_ns;
  }
}

}  // namespace fathom::advise::replay_test
