#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <set>

#include "record/opencl/recorded.h"

namespace fathom::record::opencl_layer_test {

using trace::SpanKind;

// Recorded memory, in the words of the truth lines: allocations (1) or frees (-1) of so many bytes
// that a call has allocated. Objects have handles, shared virtual memory has addresses; all of it
// is on a thread.
std::int64_t memory_events(const trace::Trace& run, int sign, const Truth& truth) {
  return std::count_if(run.memory.begin(), run.memory.end(), [&](const trace::MemoryEvent& event) {
    return (event.bytes > 0) == (sign > 0) &&
           (truth.bytes == 0 || std::abs(event.bytes) == truth.bytes) &&
           run.names.view(event.site) == truth.name && event.address &&
           event.is_handle == (truth.name != "clSVMAlloc") && run.tracks[event.track].tid != 0;
  });
}

std::int64_t recorded_count(const trace::Trace& run, const Truth& truth) {
  if (truth.kind == "allocation") return memory_events(run, 1, truth);
  if (truth.kind == "free") return memory_events(run, -1, truth);
  if (truth.kind == "failed") {
    const auto items = items_of(run, SpanKind::other, truth.name);
    return std::count_if(items.begin(), items.end(), [](const Item& item) {
      return item.args.find("error") != std::string::npos;
    });
  }
  const SpanKind kind =
      truth.kind == "map" ? SpanKind::other : trace::span_kind_of(truth.kind).value();
  const auto items = items_of(run, kind, truth.name);
  return std::count_if(items.begin(), items.end(), [&](const Item& item) {
    return truth.bytes == 0 || item.bytes == truth.bytes;
  });
}

// What each truth line says is in the run, no more and no less. What a program does in several
// truth lines of a kind and name is one line each size.
void expect_truth(const trace::Trace& run, const std::string& err) {
  const std::vector<Truth> truths = truths_of(err);
  EXPECT_FALSE(truths.empty());
  for (const Truth& truth : truths) {
    if (truth.kind == "duration") continue;
    EXPECT_EQ(recorded_count(run, truth), truth.count) << truth.kind << " " << truth.name;
  }
}

class OpenclProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(OpenclProgram, BehavesTheSameAndIsRecordedExactly) {
  const Ran alone = run({opencl_program(), GetParam()});
  const Recorded recorded = run_recorded({opencl_program(), GetParam()});
  EXPECT_EQ(recorded.ran.out, alone.out);
  EXPECT_EQ(recorded.ran.status, alone.status);
  ASSERT_EQ(recorded.runs.size(), 1U);
  EXPECT_TRUE(recorded.runs[0].warnings.empty());
  expect_truth(recorded.runs[0], recorded.ran.err);
}

INSTANTIATE_TEST_SUITE_P(Commands, OpenclProgram,
                         ::testing::Values("in-order", "out-of-order", "user-event",
                                           "user-event-set", "failed-event", "failed-enqueue",
                                           "threads", "enqueue-and-finish", "reuse", "sub-buffers",
                                           "leak", "maps", "images", "svm", "own-profiling",
                                           "extensions", "idle-gap", "plain"),
                         [](const auto& mode) {
                           std::string name = mode.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(OpenclLayer, DurationsAreWhatTheProgramReadsFromItsOwnEvents) {
  const Recorded recorded = run_recorded({opencl_program(), "own-profiling"});
  ASSERT_EQ(recorded.runs.size(), 1U);
  std::multiset<std::int64_t> own;
  for (const Truth& truth : truths_of(recorded.ran.err)) {
    if (truth.kind == "duration") own.insert(truth.count);
  }
  std::multiset<std::int64_t> seen;
  for (const Item& item : items_of(recorded.runs[0], SpanKind::kernel, "slow")) {
    seen.insert(item.duration_ns);
  }
  EXPECT_EQ(own.size(), 20U);
  EXPECT_EQ(seen, own);
}

TEST(OpenclLayer, EveryQuestionGetsTheAnswerItWouldHaveHad) {
  for (const char* const mode : {"queries", "references"}) {
    const Ran alone = run({opencl_program(), mode});
    const Ran recorded = run_recorded({opencl_program(), mode}).ran;
    EXPECT_EQ(recorded.out, alone.out);
    EXPECT_EQ(recorded.status, alone.status);
  }
}

TEST(OpenclLayer, ACallAndItsCommandShareACorrelation) {
  const Recorded recorded = run_recorded({opencl_program(), "plain"});
  ASSERT_EQ(recorded.runs.size(), 1U);
  std::set<std::int64_t> calls;
  for (const Item& call :
       items_of(recorded.runs[0], SpanKind::runtime_call, "clEnqueueNDRangeKernel")) {
    calls.insert(call.correlation);
  }
  EXPECT_EQ(calls.size(), 100U);
  for (const Item& kernel : items_of(recorded.runs[0], SpanKind::kernel, "twice")) {
    EXPECT_EQ(calls.count(kernel.correlation), 1U);
  }
}

TEST(OpenclLayer, KernelsSayTheirSizes) {
  const Recorded recorded = run_recorded({opencl_program(), "plain"});
  ASSERT_EQ(recorded.runs.size(), 1U);
  const auto kernels = items_of(recorded.runs[0], SpanKind::kernel, "twice");
  ASSERT_FALSE(kernels.empty());
  EXPECT_NE(kernels[0].args.find("1024"), std::string::npos) << kernels[0].args;
  EXPECT_NE(kernels[0].args.find("64"), std::string::npos) << kernels[0].args;
}

TEST(OpenclLayer, ABuildIsSeen) {
  const Recorded recorded = run_recorded({opencl_program(), "plain"});
  ASSERT_EQ(recorded.runs.size(), 1U);
  EXPECT_EQ(items_of(recorded.runs[0], SpanKind::runtime_call, "clBuildProgram").size(), 1U);
}

// Kernels of a kind and name in all runs together.
std::size_t kernels_in(const std::vector<trace::Trace>& runs, const std::string& name) {
  std::size_t count = 0;
  for (const trace::Trace& run : runs) count += items_of(run, SpanKind::kernel, name).size();
  return count;
}

TEST(OpenclLayer, ParentAndChildEachHaveTheirRun) {
  const Recorded recorded = run_recorded({opencl_program(), "fork-both"});
  EXPECT_EQ(WEXITSTATUS(recorded.ran.status), 0);
  ASSERT_EQ(recorded.runs.size(), 2U);
  std::multiset<std::size_t> kernels;
  for (const trace::Trace& run : recorded.runs) {
    kernels.insert(items_of(run, SpanKind::kernel, "twice").size());
  }
  EXPECT_EQ(kernels, (std::multiset<std::size_t>{30, 70}));
}

TEST(OpenclLayer, AChildThatOnlyLeavesTakesNothingAlong) {
  const Ran alone = run({opencl_program(), "fork-child"});
  const Recorded recorded = run_recorded({opencl_program(), "fork-child"});
  EXPECT_EQ(recorded.ran.out, alone.out);
  EXPECT_EQ(kernels_in(recorded.runs, "twice"), 100U);
}

TEST(OpenclLayer, AProgramThatReplacesItselfKeepsItsSecondLife) {
  const Ran alone = run({opencl_program(), "exec"});
  const Recorded recorded = run_recorded({opencl_program(), "exec"});
  EXPECT_EQ(recorded.ran.out, alone.out);
  EXPECT_GE(kernels_in(recorded.runs, "twice"), 100U);
}

TEST(OpenclLayer, AChildGoesOnWithWhatItInherited) {
#if defined(FATHOM_THREAD_SANITIZER)
  GTEST_SKIP() << "the thread sanitizer ends a forked child that starts a thread (status 66)";
#elif defined(FATHOM_ADDRESS_SANITIZER)
  GTEST_SKIP() << "where a thread allocates during fork, the sanitizer's allocator stays locked in "
                  "the child";
#endif
  const Variables no_threads = {{"POCL_DEVICES", "basic"}};
  const Ran alone = run({opencl_program(), "fork-after"}, no_threads);
  const Recorded recorded = run_recorded({opencl_program(), "fork-after"}, no_threads);
  EXPECT_EQ(recorded.ran.out, alone.out);
  EXPECT_EQ(recorded.ran.status, alone.status);
  std::multiset<std::size_t> kernels;
  for (const trace::Trace& run : recorded.runs) {
    kernels.insert(items_of(run, SpanKind::kernel, "twice").size());
  }
  EXPECT_EQ(kernels, (std::multiset<std::size_t>{30, 80}));
}

TEST(OpenclLayer, CommandBuffersAreOneSpanEach) {
  const Ran alone = run({opencl_program(), "command-buffer"});
  const Recorded recorded = run_recorded({opencl_program(), "command-buffer"});
  EXPECT_EQ(recorded.ran.out, alone.out);
  EXPECT_EQ(recorded.ran.status, alone.status);
  if (alone.out.starts_with("no command buffers")) GTEST_SKIP() << alone.out;
  EXPECT_EQ(kernels_in(recorded.runs, "command buffer"), 3U);
}

TEST(OpenclLayer, ABuildThatFailsIsRecordedWithWhatTheCompilerSaid) {
  const Ran alone = run({opencl_program(), "failed-build"});
  const Recorded recorded = run_recorded({opencl_program(), "failed-build"});
  EXPECT_EQ(recorded.ran.out, alone.out);
  ASSERT_EQ(recorded.runs.size(), 1U);
  std::size_t with_log = 0;
  for (const char* call : {"clBuildProgram", "clBuildProgram (in the background)"}) {
    for (const Item& item : items_of(recorded.runs[0], SpanKind::runtime_call, call)) {
      const bool failed = item.args.find("\"error\"") != std::string::npos;
      const bool has_log = item.args.find("this_is_not_declared") != std::string::npos;
      with_log += failed && has_log ? 1 : 0;
    }
  }
  EXPECT_EQ(with_log, 2U);
}

TEST(OpenclLayer, AnotherLayerMayStandBeforeOrBehind) {
  const std::string ours = FATHOM_LAYER;
  const std::string other = FATHOM_PASS_THROUGH;
  const Ran alone = run({opencl_program(), "in-order"});
  for (const std::string& layers : {ours + ":" + other, other + ":" + ours}) {
    const Recorded recorded =
        run_recorded({opencl_program(), "in-order"}, {{"OPENCL_LAYERS", layers}});
    EXPECT_EQ(recorded.ran.out, alone.out) << layers;
    EXPECT_EQ(recorded.ran.status, alone.status) << layers;
    ASSERT_EQ(recorded.runs.size(), 1U) << layers;
    expect_truth(recorded.runs[0], recorded.ran.err);
  }
}

}  // namespace fathom::record::opencl_layer_test
