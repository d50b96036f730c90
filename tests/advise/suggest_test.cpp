#include "advise/suggest.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "advise/machine.h"
#include "analyze/trace_maker.h"

// Programs whose best form is known: what is predicted for them is what the machine does.
namespace fathom::advise::suggest_test {

using Kind = Action::Kind;
using trace::Trace;

std::vector<Action> repeated(const std::vector<Action>& once, int times) {
  std::vector<Action> all = {{Kind::compute, 0, 20 * kUs}};
  for (int i = 0; i < times; ++i) all.insert(all.end(), once.begin(), once.end());
  all.push_back({Kind::synchronize});
  return all;
}

// The first suggestion is of this rule, and its gain is that of the better program, within 5 %.
void expect_gain(const std::vector<Action>& program, const std::vector<Action>& better,
                 const std::string& rule) {
  const Trace trace = run_on_a_machine(program);
  const Suggestions found = suggest(trace);
  ASSERT_TRUE(found.has_gains) << found.why_no_gains;
  ASSERT_FALSE(found.list.empty());
  const Suggestion& first = found.list.front();
  EXPECT_EQ(first.rule, rule) << first.title;
  const auto truth = static_cast<double>(wall_of(trace) - wall_of(run_on_a_machine(better)));
  EXPECT_NEAR(static_cast<double>(first.gain->mid_ns), truth, 0.05 * truth) << first.title;
  EXPECT_LE(first.gain->low_ns, first.gain->mid_ns);
  EXPECT_GE(first.gain->high_ns, first.gain->mid_ns);
  EXPECT_FALSE(first.evidence.empty());
  EXPECT_NEAR(*first.estimated_ns, first.current_ns - truth, 0.05 * truth);
}

// The first time there is no work yet that it could go on beside.
TEST(Suggest, GainOfClosingAnIdleGapIsTheTrueOne) {
  std::vector<Action> late;
  std::vector<Action> better = {{Kind::compute, 0, 8 * kMs, "augment"}};
  for (int i = 0; i < 20; ++i) {
    late.push_back({Kind::compute, 0, 8 * kMs, "augment"});
    late.push_back({Kind::launch, 0, 5 * kMs});
    better.push_back({Kind::launch, 0, 5 * kMs});
  }
  expect_gain(repeated(late, 1), repeated(better, 1), "idle");
}

TEST(Suggest, GainOfRunningIndependentKernelsSideBySideIsTheTrueOne) {
  std::vector<Action> serial;
  std::vector<Action> at_once;
  for (std::size_t i = 0; i < 64; ++i) {
    serial.push_back({Kind::launch, 0, 400 * kUs, "small", 10});
    at_once.push_back({Kind::launch, i % 8, 400 * kUs, "small", 10});
  }
  expect_gain(repeated(serial, 1), repeated(at_once, 1), "streams");
}

TEST(Suggest, GainOfCopyingOnceIsTheTrueOne) {
  std::vector<Action> again;
  std::vector<Action> once = {{Kind::copy, 0, 500 * kUs, "", 0, 600'000}};
  for (int i = 0; i < 40; ++i) {
    again.push_back({Kind::copy, 0, 500 * kUs, "", 0, 600'000});
    again.push_back({Kind::launch, 0, 300 * kUs});
    once.push_back({Kind::launch, 0, 300 * kUs});
  }
  expect_gain(repeated(again, 1), repeated(once, 1), "repeats");
}

// Large copies that block, one before each kernel: that they are slow can be seen, that they bring
// the same data each time cannot.
TEST(Suggest, AGuessComesAfterWhatCanBeSeen) {
  std::vector<Action> program;
  for (int i = 0; i < 40; ++i) {
    program.push_back({Kind::copy, 0, 2000 * kUs, "", 0, 6'000'000});
    program.push_back({Kind::launch, 0, 300 * kUs});
  }
  const Suggestions found = suggest(run_on_a_machine(repeated(program, 1)));
  ASSERT_EQ(found.list.size(), 2U);
  EXPECT_EQ(found.list[0].rule, "copies");
  EXPECT_EQ(found.list[1].rule, "repeats");
}

TEST(Suggest, GainOfMakingTinyKernelsOneIsTheTrueOne) {
  std::vector<Action> tiny;
  for (int i = 0; i < 500; ++i) {
    tiny.push_back({Kind::compute, 0, 6 * kUs, "add"});
    tiny.push_back({Kind::launch, 0, 2 * kUs, "add_kernel"});
  }
  const std::vector<Action> one = {{Kind::compute, 0, 6 * kUs, "add"},
                                   {Kind::launch, 0, 1000 * kUs, "add_kernel"}};
  expect_gain(repeated(tiny, 1), repeated(one, 1), "batching");
}

TEST(Suggest, GainOfNotWaitingIsTheTrueOne) {
  const std::vector<Action> waits = {
      {Kind::compute, 0, 300 * kUs}, {Kind::launch, 0, 500 * kUs}, {Kind::synchronize}};
  const std::vector<Action> better = {{Kind::compute, 0, 300 * kUs}, {Kind::launch, 0, 500 * kUs}};
  expect_gain(repeated(waits, 50), repeated(better, 50), "sync");
}

TEST(Suggest, GainOfWorkersIsNearTheTrueOne) {
  const std::vector<Action> loads = {{Kind::compute, 0, 6 * kMs, "enumerate(DataLoader)#next"},
                                     {Kind::launch, 0, 4 * kMs},
                                     {Kind::synchronize}};
  const std::vector<Action> better = {{Kind::compute, 0, 600 * kUs, "enumerate(DataLoader)#next"},
                                      {Kind::launch, 0, 4 * kMs},
                                      {Kind::synchronize}};
  expect_gain(repeated(loads, 20), repeated(better, 20), "input");
}

TEST(Suggest, AGoodRunGetsNoSuggestion) {
  std::vector<Action> good;
  for (int i = 0; i < 50; ++i) {
    good.push_back({Kind::launch, 0, 400 * kUs, i % 2 == 0 ? "a" : "b", 80});
  }
  const Trace trace = run_on_a_machine(repeated(good, 1));
  const Suggestions found = suggest(trace);
  EXPECT_TRUE(found.has_gains);
  for (const Suggestion& one : found.list) ADD_FAILURE() << one.title;
}

std::vector<Action> random_actions(std::mt19937& random) {
  std::vector<Action> actions;
  for (int i = 0; i < 12; ++i) {
    const std::int64_t duration = trace::pick(random, 2, 2000) * kUs;
    switch (trace::pick(random, 0, 4)) {
      case 0:
        actions.push_back({Kind::compute, 0, duration, "prepare"});
        break;
      case 1:
        actions.push_back({Kind::synchronize});
        break;
      case 2:
        actions.push_back({Kind::copy, 0, duration, "", 0, duration * 5});
        break;
      default:
        actions.push_back({Kind::launch, 0, duration, "kernel", 8});
    }
  }
  return actions;
}

// A gap of which two rules know a cause is claimed once.
TEST(Suggest, GainsAddUpToNoMoreThanTheRun) {
  std::mt19937 random(47);
  for (int round = 0; round < 300; ++round) {
    const Trace trace = run_on_a_machine(repeated(random_actions(random), 12));
    const Suggestions found = suggest(trace, true);
    double sum = 0;
    double before = 100;
    for (const Suggestion& one : found.list) {
      ASSERT_LE(one.gain->low_ns, one.gain->mid_ns);
      ASSERT_LE(one.gain->mid_ns, one.gain->high_ns);
      ASSERT_GE(one.gain->low_ns, 0);
      sum += one.gain_pct;
      const bool is_a_guess = one.rule == "repeats";
      if (one.is_after_others || is_a_guess) continue;
      ASSERT_LE(one.gain_pct, before + 1e-9) << "round " << round;
      before = one.gain_pct;
    }
    ASSERT_LE(sum, 100.0) << "round " << round;
  }
}

// The host is late for each launch; only once it no longer is do shorter kernels matter.
TEST(Suggest, WhatHelpsOnlyAfterOthersComesAfterThemAndSaysSo) {
  std::vector<Action> step;
  for (int i = 0; i < 10; ++i) {
    step.push_back({Kind::compute, 0, 130 * kUs});
    step.push_back({Kind::launch, 0, 100 * kUs, "volta_sgemm_128x64_nt"});
  }
  Trace trace = run_on_a_machine(repeated(step, 20));
  trace.run.devices[0].name = "Tesla V100-SXM2-16GB";
  const Suggestions found = suggest(trace);
  const auto one = std::find_if(found.list.begin(), found.list.end(),
                                [](const Suggestion& each) { return each.rule == "precision"; });
  ASSERT_NE(one, found.list.end());
  ASSERT_NE(one, found.list.begin());
  EXPECT_EQ(found.list.front().rule, "launch");
  EXPECT_TRUE(one->is_after_others);
  EXPECT_NE(one->expected_improvement.find("once the changes above are made"), std::string::npos)
      << one->expected_improvement;
}

TEST(Suggest, RandomTracesNeitherFailNorPromiseTheImpossible) {
  std::mt19937 random(53);
  for (int round = 0; round < 1000; ++round) {
    const Trace trace = analyze::random_gpu_trace(random);
    const Suggestions found = suggest(trace, true);
    for (const Suggestion& one : found.list) {
      ASSERT_EQ(one.gain.has_value(), one.basis == GainBasis::replay);
      ASSERT_TRUE(found.has_gains || !one.gain);
      ASSERT_FALSE(one.title.empty() || one.description.empty() || one.operation.empty());
      ASSERT_LE(one.gain_pct, 100.0);
      for (const trace::SpanId id : one.evidence) ASSERT_LT(id, trace.spans.size());
    }
  }
}

TEST(Suggest, ATraceThatIsNotUnderstoodGetsNoNumberAndTheReason) {
  analyze::TraceMaker maker;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t at = i * 30 * kMs;
    maker.op("enumerate(DataLoader)#next", at, 5 * kMs);
    maker.call("cudaLaunchKernel", at + 6 * kMs, 5 * kUs, i);
    maker.gpu("late for no reason", at + 25 * kMs, kMs, i);
  }
  const Trace trace = maker.make();
  const Suggestions found = suggest(trace);
  EXPECT_FALSE(found.has_gains);
  EXPECT_NE(found.why_no_gains.find("something not in the trace held it up"), std::string::npos);
  ASSERT_FALSE(found.list.empty());
  for (const Suggestion& one : found.list) {
    EXPECT_FALSE(one.gain || one.estimated_ns || one.potential_speedup);
    EXPECT_EQ(one.basis, GainBasis::none);
  }
}

TEST(Suggest, AnEmptyTraceGetsNothing) {
  const Suggestions found = suggest(analyze::TraceMaker().make());
  EXPECT_TRUE(found.list.empty());
  EXPECT_FALSE(found.why_no_gains.empty());
}

// Each step the host does something for 0.3 ms that is not recorded: the replay is too short by 6
// %.
TEST(Suggest, GainsOfAReplayThatIsOffByALittleAreRough) {
  analyze::TraceMaker maker;
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    maker.op("augment", now, 3 * kMs);
    now += 3 * kMs + 300 * kUs;
    maker.call("cudaLaunchKernel", now, 5 * kUs, i + 1).gpu("gemm", now + 9 * kUs, kMs / 10, i + 1);
    now += 5 * kUs;
  }
  const Suggestions found = suggest(maker.make());
  ASSERT_TRUE(found.has_gains && found.is_rough) << found.why_no_gains;
  EXPECT_NEAR(*found.replay_error_pct, 6, 0.5);
  ASSERT_FALSE(found.list.empty());
  EXPECT_TRUE(found.list.front().is_rough);
  const std::string& text = found.list.front().expected_improvement;
  EXPECT_NE(text.find("Rough: the replay is off by 6 %."), std::string::npos) << text;
}

}  // namespace fathom::advise::suggest_test
