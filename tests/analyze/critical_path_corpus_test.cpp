#include <gtest/gtest.h>

#include <numeric>

#include "analyze/critical_path/critical_path.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::analyze::critical_path_corpus_test {

double share(const CriticalPath& path, Bound bound) {
  return static_cast<double>(path.bound_by[static_cast<std::size_t>(bound)]) /
         static_cast<double>(path.total_ns()) * 100;
}

CriticalPath path_of(const std::string& name) {
  for (const std::string& file : trace::corpus_files("kineto")) {
    if (file.find(name) != std::string::npos) return critical_path(trace::read_trace(file));
  }
  return {};
}

TEST(CriticalPathCorpus, ExplainsTheWallTimeOfRealRuns) {
  const std::vector<std::string> files = trace::corpus_files("kineto");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const CriticalPath path = critical_path(trace::read_trace(file));
    EXPECT_EQ(std::accumulate(path.bound_by.begin(), path.bound_by.end(), std::int64_t{0}),
              path.total_ns());
    EXPECT_GT(path.total_ns(), 0);
    // A sampled trace lacks most of its calls, a replayed graph hides its own, and one file holds
    // three operations of a program that was elsewhere.
    const bool has_holes = file.find("sampled") != std::string::npos ||
                           file.find("graph_replay") != std::string::npos ||
                           file.find("event_sync_multi") != std::string::npos;
    if (!has_holes) {
      EXPECT_LT(share(path, Bound::unknown), 2) << "unexplained";
    }
    for (const PathStep& step : path.steps) {
      EXPECT_EQ(std::accumulate(step.bound_by.begin(), step.bound_by.end(), std::int64_t{0}),
                std::min(step.end_ns, path.end_ns) - std::max(step.start_ns, path.begin_ns));
    }
  }
}

TEST(CriticalPathCorpus, NamesWhatBoundsThem) {
  if (trace::corpus_files("kineto").empty()) GTEST_SKIP() << "no corpus";
  // The same job with data loaded by the main thread, and by four others.
  EXPECT_NEAR(share(path_of("resnet50_workers0"), Bound::data_loading), 39, 1);
  EXPECT_LT(share(path_of("resnet50_workers4"), Bound::data_loading), 2);
  // 2,020 small all-reduces: the host cannot keep up, and nothing of the GPU shows.
  const CriticalPath host_bound = path_of("v100_rank1of2.json");
  EXPECT_GT(share(host_bound, Bound::cpu) + share(host_bound, Bound::launch), 95);
  // Embeddings keep the GPU busy, exchanges between ranks come next.
  const CriticalPath gpu_bound = path_of("v100_rank1of2_other");
  EXPECT_NEAR(share(gpu_bound, Bound::compute), 55, 2);
  EXPECT_NEAR(share(gpu_bound, Bound::communication), 13.5, 2);
  EXPECT_GT(share(path_of("inductor_triton"), Bound::compute), 95);
  EXPECT_GT(share(path_of("b200_vllm_eager"), Bound::cpu), 85);
}

TEST(CriticalPathCorpus, HasAStepForEachOfTheRun) {
  if (trace::corpus_files("kineto").empty()) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(path_of("legacy2021_resnet50").steps.size(), 6U);  // as operators, in 2021
  EXPECT_EQ(path_of("a100_rank3of8").steps.size(), 6U);
  EXPECT_EQ(path_of("h100_bert_small").steps.size(), 1U);  // beside its twin on the GPU
  EXPECT_TRUE(path_of("mi210_gpu_only").steps.empty());
}

}  // namespace fathom::analyze::critical_path_corpus_test
