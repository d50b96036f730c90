#include <gtest/gtest.h>

#include <string>

#include "advise/machine.h"
#include "advise/suggest.h"
#include "base/contains.h"
#include "trace/corpus.h"
#include "trace/read.h"

// Runs whose host is ahead of the GPU until the launch queue is full: what their launches wait then
// is the GPU's time.
namespace fathom::advise::launch_queue_test {

using Kind = Action::Kind;
using trace::Trace;

constexpr std::size_t kDepth = 1'021;

// Two kinds of kernels; the host needs 20 µs for each, the GPU 80 and 30.
std::vector<Action> training(std::int64_t gemm_ns, std::int64_t host_ns) {
  std::vector<Action> program;
  for (int i = 0; i < 3'000; ++i) {
    program.push_back({Kind::compute, 0, host_ns, "aten::op"});
    program.push_back({Kind::launch, 0, i % 3 == 0 ? 30 * kUs : gemm_ns,
                       i % 3 == 0 ? "elementwise_" + std::to_string(i % 2) : "sgemm"});
  }
  program.push_back({Kind::synchronize});
  return program;
}

double predicted_saving(const Trace& trace, double work_factor, double host_factor) {
  const analyze::Dependencies on = analyze::dependencies(trace);
  const ReplayPlan plan = plan_replay(trace, on);
  EXPECT_TRUE(is_trustworthy(plan, replay(plan)));
  Edits edits;
  for (std::uint32_t i = 0; i < on.gpu.rows.size(); ++i) {
    if (trace.names.view(on.gpu.rows[i].name) == "sgemm") scale_work(edits, plan, i, work_factor);
  }
  for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.name(id) == "aten::op") scale_host(edits, plan, id, host_factor);
  }
  return static_cast<double>(plan.measured_ns - replay(plan, edits).wall_ns);
}

TEST(LaunchQueue, IsReplayedExactlyWithoutAChange) {
  const Trace trace = run_on_a_machine(training(80 * kUs, 15 * kUs), kDepth);
  const analyze::Dependencies on = analyze::dependencies(trace);
  EXPECT_GT(on.queue_waits.size(), 1'000U);
  const ReplayPlan plan = plan_replay(trace, on);
  EXPECT_EQ(plan.launch_call_ns, 5 * kUs);
  EXPECT_EQ(replay(plan).wall_ns, plan.measured_ns);
}

// Kernels that are faster let the host go on sooner, until it is the host that is too slow.
TEST(LaunchQueue, GainOfFasterKernelsIsTheTrueOne) {
  const Trace trace = run_on_a_machine(training(80 * kUs, 15 * kUs), kDepth);
  for (const std::int64_t faster : {2, 4, 16}) {
    SCOPED_TRACE(faster);
    const Trace better = run_on_a_machine(training(80 * kUs / faster, 15 * kUs), kDepth);
    const auto truth = static_cast<double>(wall_of(trace) - wall_of(better));
    EXPECT_NEAR(predicted_saving(trace, 1.0 / static_cast<double>(faster), 1), truth, 0.05 * truth);
  }
}

TEST(LaunchQueue, AFasterHostGainsNothing) {
  const Trace trace = run_on_a_machine(training(80 * kUs, 15 * kUs), kDepth);
  const Trace better = run_on_a_machine(training(80 * kUs, 5 * kUs), kDepth);
  const auto truth = static_cast<double>(wall_of(trace) - wall_of(better));
  EXPECT_NEAR(predicted_saving(trace, 1, 1.0 / 3), truth, 30 * kUs);
}

TEST(LaunchQueue, ThatIsFullIsNoReasonToLaunchLess) {
  const Trace trace = run_on_a_machine(training(80 * kUs, 15 * kUs), kDepth);
  const Suggestions found = suggest(trace, true);
  for (const Suggestion& one : found.list) {
    EXPECT_NE(one.rule, "launch") << one.description;
    EXPECT_NE(one.rule, "setup") << one.description;
    EXPECT_NE(one.rule, "batching") << one.description;
  }
}

// In plain FP32: cuDNN's and cuBLAS's kernels for a V100.
bool is_fp32_product(std::string_view name) {
  for (const char* part :
       {"sgemm", "scudnn", "wgrad", "dgrad", "winograd", "nchwToNhwc", "implicit_", "gemv"}) {
    if (base::contains(name, part)) return true;
  }
  return false;
}

// Simulated from the raw trace with a queue of 1,021: 30.9 % and 46.3 % of the run.
TEST(LaunchQueue, OfARealRunIsUnderstood) {
  const auto file = trace::corpus_file("expert/ns_resnet_v100.json.gz");
  if (!file) GTEST_SKIP() << "no corpus";
  const Trace trace = trace::read_trace(*file);
  const analyze::Dependencies on = analyze::dependencies(trace);
  std::int64_t blocked = 0;
  for (const analyze::QueueWait& wait : on.queue_waits) {
    if (trace.spans.duration_ns[wait.call] > 50 * kUs) ++blocked;
  }
  EXPECT_NEAR(static_cast<double>(blocked), 935, 5);
  const ReplayPlan plan = plan_replay(trace, on);
  EXPECT_TRUE(is_trustworthy(plan, replay(plan)));
  EXPECT_NEAR(static_cast<double>(plan.launch_call_ns), 4'800, 500);
  std::int64_t products = 0;
  Edits twice;
  Edits four_times;
  for (std::uint32_t i = 0; i < on.gpu.rows.size(); ++i) {
    if (!is_fp32_product(trace.names.view(on.gpu.rows[i].name))) continue;
    products += on.gpu.rows[i].duration_ns();
    scale_work(twice, plan, i, 0.5);
    scale_work(four_times, plan, i, 0.25);
  }
  EXPECT_NEAR(static_cast<double>(products) / 1e6, 298, 6);
  const auto saves = [&](const Edits& edits) {
    return static_cast<double>(plan.measured_ns - replay(plan, edits).wall_ns) /
           static_cast<double>(plan.measured_ns) * 100;
  };
  EXPECT_NEAR(saves(twice), 30.9, 1.5);
  EXPECT_NEAR(saves(four_times), 46.3, 1.5);
}

}  // namespace fathom::advise::launch_queue_test
