#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "analyze/critical_path/critical_path.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::analyze::critical_path_corpus_test {

double share(const CriticalPath& path, Bound bound) {
  return static_cast<double>(path.bound_by[static_cast<std::size_t>(bound)]) /
         static_cast<double>(path.total_ns()) * 100;
}

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const char* folder : {"kineto", "nsys", "expert"}) {
    for (const std::string& file : trace::corpus_files(folder)) {
      if (!file.ends_with(".pickle")) files.push_back(file);  // memory alone
    }
  }
  return files;
}

CriticalPath of_run(const trace::Trace& trace) {
  return critical_path(trace, dependencies(trace), wall(trace));
}

CriticalPath path_of(const std::string& name) {
  for (const std::string& file : all_files()) {
    if (file.find(name) != std::string::npos) return of_run(trace::read_trace(file));
  }
  return {};
}

// What has holes in it, and how much of the path they may be, in percent: a sampled trace lacks
// most of its calls, one file holds three operations of a program that was elsewhere, one waits for
// hundreds of milliseconds with hundreds of launches queued, one begins within a collective that it
// does not have, one pauses 161 times for 0.1 to 1 ms in Python that was not recorded, and in one,
// of 10 ms, the first kernel of a graph begins 274 µs after its launch.
double may_be_unknown(const std::string& file) {
  for (const auto& [name, percent] :
       {std::pair{"sampled", 32}, std::pair{"event_sync_multi", 94}, std::pair{"negq", 64},
        std::pair{"mi300_resnet", 3}, std::pair{"param_linear", 4}, std::pair{"sglang", 3}}) {
    if (file.find(name) != std::string::npos) return percent;
  }
  return 2;
}

TEST(CriticalPathCorpus, ExplainsTheWallTimeOfRealRuns) {
  const std::vector<std::string> files = all_files();
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const trace::Trace trace = trace::read_trace(file);
    const Wall run = wall(trace);
    const CriticalPath path = of_run(trace);
    EXPECT_EQ(std::accumulate(path.bound_by.begin(), path.bound_by.end(), std::int64_t{0}),
              path.total_ns());
    EXPECT_EQ(path.total_ns(), run.length_ns()) << "what every other share is of";
    EXPECT_GT(path.total_ns(), 0);
    EXPECT_LT(share(path, Bound::unknown), may_be_unknown(file)) << "unexplained";
    for (const PathStep& step : path.steps) {
      const base::Interval time = {std::max(step.start_ns, path.begin_ns),
                                   std::min(step.end_ns, path.end_ns)};
      const std::int64_t apart = base::length_within(base::unite(run.set_up, run.unknown), time);
      EXPECT_EQ(std::accumulate(step.bound_by.begin(), step.bound_by.end(), std::int64_t{0}),
                std::max<std::int64_t>(0, time.length()) - apart);
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
  EXPECT_NEAR(share(gpu_bound, Bound::compute), 58.5, 2);
  EXPECT_NEAR(share(gpu_bound, Bound::communication), 13.5, 2);
  EXPECT_GT(share(path_of("inductor_triton"), Bound::compute), 95);
  EXPECT_GT(share(path_of("b200_vllm_eager"), Bound::cpu), 85);
  // Weights are streamed to the GPU; the host waits for most of it, in launches and in a stream.
  EXPECT_NEAR(share(path_of("h100_2gpu_1s"), Bound::copy), 97, 1);
  EXPECT_LT(share(path_of("h100_2gpu_1s"), Bound::sync), 1);
  // A third of the launches is not recorded, and the host waits for the device at the end.
  EXPECT_NEAR(share(path_of("h100_qwen"), Bound::compute), 88, 2);
  EXPECT_LT(share(path_of("h100_qwen"), Bound::sync), 1);
  // Its copies after collectives have no launch either.
  EXPECT_NEAR(share(path_of("mi300_resnet"), Bound::communication), 82, 2);
  EXPECT_NEAR(share(path_of("ns_resnet"), Bound::compute), 97, 1);
  // Uploads of 8 bytes wait for the kernels before them.
  EXPECT_LT(share(path_of("mfu_2gpu_before"), Bound::sync), 1);
}

TEST(CriticalPathCorpus, HasAStepForEachOfTheRun) {
  if (trace::corpus_files("kineto").empty()) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(path_of("legacy2021_resnet50").steps.size(), 6U);  // as operators, in 2021
  EXPECT_EQ(path_of("a100_rank3of8").steps.size(), 6U);
  EXPECT_EQ(path_of("h100_bert_small").steps.size(), 1U);  // beside its twin on the GPU
  EXPECT_TRUE(path_of("mi210_gpu_only").steps.empty());
}

}  // namespace fathom::analyze::critical_path_corpus_test
