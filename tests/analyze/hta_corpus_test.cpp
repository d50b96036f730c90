// Traces that HTA cannot read, or reads wrongly: what they say must be sane.

#include <gtest/gtest.h>

#include "analyze/hta/hta.h"
#include "analyze/hta/hta_summary.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::analyze::hta_corpus_test {

std::optional<RankFindings> find(const std::string& name) {
  for (const std::string& file : trace::corpus_files("kineto")) {
    if (file.find("/" + name) == std::string::npos) continue;
    const std::vector<RankFindings> found = holistic(trace::read_trace(file), file);
    EXPECT_EQ(found.size(), 1U);
    return found.front();
  }
  return std::nullopt;
}

double pct(std::int64_t part, const RankFindings& of) {
  return static_cast<double>(part) / static_cast<double>(of.temporal->total_ns) * 100;
}

std::uint64_t calls_of(const RankFindings& found, std::string_view name) {
  for (const LaunchStats& call : found.launches.by_call) {
    if (call.name == name) return call.count();
  }
  return 0;
}

TEST(HtaCorpus, AmdLaunchesAreSeen) {
  const auto found = find("mi300_bert_small");
  if (!found) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(found->device, 2);  // as its events number it; the list of devices begins at 0
  EXPECT_EQ(found->unlinked_work, 0U);
  EXPECT_EQ(found->launches.all.count(), 61U);
  EXPECT_EQ(calls_of(*found, "hipLaunchKernel") + calls_of(*found, "hipModuleLaunchKernel") +
                calls_of(*found, "hipExtModuleLaunchKernel") +
                calls_of(*found, "hipMemcpyWithStream"),
            61U);
  EXPECT_GT(pct(found->temporal->compute_ns, *found), 1);
  EXPECT_EQ(found->temporal->communication_ns, 0);
  EXPECT_FALSE(found->comm_comp_overlap_pct);
}

TEST(HtaCorpus, AReplayedGraphIsOneLaunch) {
  const auto found = find("mi300_vllm_graph_replay");
  if (!found) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(calls_of(*found, "hipGraphLaunch"), 1U);
  EXPECT_EQ(found->launches.all.count(), 14U);
  EXPECT_EQ(found->queues.front().launched, 434U);
  EXPECT_GT(pct(found->temporal->compute_ns, *found), 99);
  EXPECT_EQ(found->idle.host_wait_ns, 0);
}

TEST(HtaCorpus, GpuWorkAloneHasNoLaunchesButAllElse) {
  const auto found = find("mi210_gpu_only");
  if (!found) GTEST_SKIP() << "no corpus";
  std::uint64_t work = 0;
  for (const KernelStats& kernel : found->kernels) work += kernel.durations.count();
  EXPECT_EQ(work, 562U);
  EXPECT_EQ(found->idle.total_ns(), found->temporal->idle_ns);
  EXPECT_GT(found->temporal->compute_ns, 0);
}

TEST(HtaCorpus, TracesOf2021HaveStepsLaunchesAndStreams) {
  const auto found = find("legacy2021_resnet50");
  if (!found) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(found->steps, 6U);
  EXPECT_TRUE(found->leaves_out_last_step);
  EXPECT_EQ(found->unlinked_work, 733U);
  ASSERT_EQ(found->idle_streams.size(), 1U);
  EXPECT_EQ(found->idle_streams[0].stream, 7);
  EXPECT_GT(found->launches.all.count(), 7000U);
  EXPECT_GT(pct(found->temporal->compute_ns, *found), 5);
}

// The same job: with 4 workers to load the data, the GPU waits less for the host.
TEST(HtaCorpus, DataLoadingWorkersShortenTheHostWait) {
  const auto none = find("v100_resnet50_workers0");
  const auto four = find("v100_resnet50_workers4");
  if (!none) GTEST_SKIP() << "no corpus";
  EXPECT_GT(pct(none->idle.host_wait_ns, *none), pct(four->idle.host_wait_ns, *four) + 10);
  EXPECT_LT(four->temporal->total_ns, none->temporal->total_ns);
}

TEST(HtaCorpus, ATraceWithoutAGpuSaysSo) {
  const auto found = find("torch113_cpu_legacy_array");
  if (!found) GTEST_SKIP() << "no corpus";
  EXPECT_FALSE(found->temporal);
}

TEST(HtaCorpus, EightRanksEachHaveTheirFigures) {
  std::vector<RankFindings> ranks;
  for (const std::string& file : trace::corpus_files("kineto/dlrm_8ranks")) {
    for (RankFindings& found : holistic(trace::read_trace(file), file)) ranks.push_back(found);
  }
  if (ranks.empty()) GTEST_SKIP() << "no corpus";
  ASSERT_EQ(ranks.size(), 8U);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(ranks[i].rank, static_cast<std::int64_t>(i));
    EXPECT_EQ(ranks[i].world_size, 8);
    EXPECT_GT(ranks[i].temporal->communication_ns, 0);
    EXPECT_LT(ranks[i].comm_comp_overlap_pct, 15);
  }
}

}  // namespace fathom::analyze::hta_corpus_test
