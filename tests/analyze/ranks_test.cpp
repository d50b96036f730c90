#include "analyze/ranks/ranks.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/corpus.h"
#include "trace/read.h"
#include "trace_maker.h"

namespace fathom::analyze::ranks_test {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

// Ranks that compute, meet in an all-reduce and go on, each on its own clock.
struct Job {
  std::vector<std::int64_t> offset_ns;   // of each rank's clock
  std::vector<std::int64_t> compute_ns;  // of each rank and step
  std::vector<std::int64_t> launch_ns;   // how late each host launches the collective
  int steps = 20;
  std::int64_t jitter_ns = 0;  // how far apart the ranks leave, at most
  int first_of_last_rank = 0;  // its trace begins with this collective
  int missing_of_last_rank = -1;

  std::vector<RankRun> run() const {
    std::mt19937 random(7);
    std::vector<TraceMaker> traces(offset_ns.size());
    std::int64_t begin = 10 * kMs;
    for (int step = 0; step < steps; ++step) {
      std::int64_t last_arrival = 0;
      std::vector<std::int64_t> arrival;
      for (std::size_t rank = 0; rank < traces.size(); ++rank) {
        const std::int64_t computed = begin + compute_ns[rank] + step * kUs;
        arrival.push_back(std::max(computed, begin + launch_ns[rank]) + 5 * kUs);
        last_arrival = std::max(last_arrival, arrival.back());
      }
      const std::int64_t end = last_arrival + 300 * kUs;
      for (std::size_t rank = 0; rank < traces.size(); ++rank) {
        const bool is_last = rank + 1 == traces.size();
        if (is_last && (step < first_of_last_rank || step == missing_of_last_rank)) continue;
        const std::int64_t clock = offset_ns[rank];
        const std::int64_t left = end + trace::pick(random, 0, jitter_ns);
        traces[rank].gpu("gemm", begin + clock, compute_ns[rank] + step * kUs);
        traces[rank].call("cudaLaunchKernel", begin + launch_ns[rank] + clock, 4 * kUs, step);
        traces[rank].gpu("ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", arrival[rank] + clock,
                         left - arrival[rank], step, 20);
      }
      begin = end + trace::pick(random, 50, 400) * kUs;
    }
    std::vector<RankRun> runs;
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      trace::RunInfo info;
      info.rank = static_cast<std::int64_t>(rank);
      info.world_size = static_cast<std::int64_t>(traces.size());
      runs.push_back(rank_runs(traces[rank].make(info)).at(0));
    }
    return runs;
  }
};

Job four_ranks() {
  Job job;
  job.offset_ns = {0, 7 * kMs, -3'000 * kMs, 123'456'789};
  job.compute_ns = {2 * kMs, 2 * kMs, 2 * kMs, 2 * kMs};
  job.launch_ns = {10 * kUs, 10 * kUs, 10 * kUs, 10 * kUs};
  return job;
}

TEST(Ranks, OffsetsOfClocksAreRecoveredExactly) {
  const Job job = four_ranks();
  const RankReport report = compare_ranks(job.run());
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(report.rows[rank].clock.offset_ns, job.offset_ns[rank]);
    EXPECT_EQ(report.rows[rank].clock.residual_ns, 0);
    EXPECT_EQ(report.rows[rank].shared, 20U);
  }
  EXPECT_EQ(report.collectives.size(), 20U);
  EXPECT_EQ(report.operations.at(0).operation, "AllReduce");
  EXPECT_EQ(report.operations.at(0).exchange_sum_ns, 20 * 300 * kUs);
}

TEST(Ranks, OffsetsAreAsGoodAsRanksLeaveTogether) {
  Job job = four_ranks();
  job.jitter_ns = 6 * kUs;
  const RankReport report = compare_ranks(job.run());
  for (std::size_t rank = 1; rank < 4; ++rank) {
    EXPECT_NEAR(static_cast<double>(*report.rows[rank].clock.offset_ns),
                static_cast<double>(job.offset_ns[rank]), 3 * kUs);
    EXPECT_LE(report.rows[rank].clock.residual_ns, 6 * kUs);
  }
}

TEST(Ranks, ARankThatComputesLongerIsTheStraggler) {
  Job job = four_ranks();
  job.compute_ns[2] = 3 * kMs;
  const RankReport report = compare_ranks(job.run());
  ASSERT_EQ(report.stragglers, std::vector<std::uint32_t>{2});
  const RankRow& row = report.rows[2];
  EXPECT_EQ(row.times_last, 20U);
  EXPECT_EQ(row.late_ns, 20 * kMs);
  EXPECT_EQ(row.waited_ns, 0);
  // The first has nothing before it to compare with.
  EXPECT_EQ(row.causes[static_cast<std::size_t>(LateCause::compute)], 19U);
  EXPECT_EQ(report.rows[0].waited_ns, 20 * kMs);
  EXPECT_NEAR(*report.compute_imbalance_pct, (3.0095 / (9.038 / 4) - 1) * 100, 0.1);
}

TEST(Ranks, ARankThatLaunchesLateHasItsHostToBlame) {
  Job job = four_ranks();
  job.launch_ns[1] = 4 * kMs;
  const RankReport report = compare_ranks(job.run());
  ASSERT_EQ(report.stragglers, std::vector<std::uint32_t>{1});
  EXPECT_EQ(report.rows[1].causes[static_cast<std::size_t>(LateCause::host)], 20U);
}

TEST(Ranks, ThatArriveTogetherHaveNoStraggler) {
  EXPECT_TRUE(compare_ranks(four_ranks().run()).stragglers.empty());
}

TEST(Ranks, ATraceThatBeginsLaterOrMissesOneIsMatchedAllTheSame) {
  Job job = four_ranks();
  job.first_of_last_rank = 3;
  job.missing_of_last_rank = 9;
  const RankReport report = compare_ranks(job.run());
  EXPECT_EQ(report.rows[3].clock.offset_ns, job.offset_ns[3]);
  EXPECT_EQ(report.rows[3].shared, 16U);
  EXPECT_EQ(report.collectives.size(), 20U);
  EXPECT_EQ(report.collectives[0].members, 3U);
  EXPECT_EQ(report.collectives[5].members, 4U);
}

TEST(Ranks, OfDifferentJobsAreStrangers) {
  Job other = four_ranks();
  other.compute_ns.assign(4, 9 * kMs);
  other.steps = 31;
  std::vector<RankRun> runs = four_ranks().run();
  runs.resize(1);
  runs.push_back(other.run().at(1));
  // Steps of another length: some ends may fall together, but not many.
  for (std::size_t i = 0; i < runs[1].collectives.size(); ++i) {
    runs[1].collectives[i].end_ns += static_cast<std::int64_t>(i * i) * 37 * kUs;
  }
  const RankReport report = compare_ranks(runs);
  EXPECT_FALSE(report.rows[1].clock.offset_ns);
  EXPECT_TRUE(report.collectives.empty());
}

TEST(Ranks, OneAloneOrNoneIsFine) {
  EXPECT_TRUE(compare_ranks({}).rows.empty());
  std::vector<RankRun> runs = four_ranks().run();
  runs.resize(1);
  const RankReport report = compare_ranks(runs);
  EXPECT_EQ(report.rows.at(0).collectives, 20U);
  EXPECT_TRUE(report.collectives.empty());
  EXPECT_FALSE(report.compute_imbalance_pct);
  EXPECT_EQ(report.missing, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Ranks, WithoutCollectivesKeepTheirFigures) {
  std::vector<RankRun> runs;
  for (const std::int64_t duration : {100, 300}) {
    runs.push_back(rank_runs(TraceMaker().gpu("gemm", 0, duration).make()).at(0));
  }
  const RankReport report = compare_ranks(runs);
  EXPECT_EQ(report.rows[1].compute_ns, 300);
  EXPECT_FALSE(report.rows[1].clock.offset_ns);
  EXPECT_FALSE(report.rows[1].rank);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_DOUBLE_EQ(*report.compute_imbalance_pct, 50);
}

TEST(Ranks, CollectivesOfDifferentGroupsAreNeverTheSame) {
  const auto rank = [](const std::string& group) {
    TraceMaker maker;
    for (int i = 0; i < 3; ++i) {
      maker.gpu("ncclDevKernel_Generic(args)", i * kMs, 100 * kUs, i)
          .with_args(R"({"Collective name": "allreduce", "In msg nelems": 4096,)"
                     R"( "Process Group Name": ")" +
                     group + R"("})");
    }
    return rank_runs(maker.make()).at(0);
  };
  const std::vector<RankRun> runs = {rank("tp0"), rank("tp1"), rank("tp0")};
  EXPECT_EQ(runs[0].keys.at(0), (CollectiveKey{"allreduce", "tp0", 4096}));
  const RankReport report = compare_ranks(runs);
  EXPECT_FALSE(report.rows[1].clock.offset_ns);
  EXPECT_EQ(report.rows[2].clock.offset_ns, 0);
  EXPECT_EQ(report.rows[2].shared, 3U);
}

TEST(Ranks, EachGpuOfAProcessIsOne) {
  trace::TracePart part;
  for (const std::int64_t device : {0, 1}) {
    const trace::TrackId track = part.track(trace::TrackKind::gpu_stream, device, 7);
    part.tracks[track].device = device;
    trace::SpanRow row;
    row.track = track;
    row.kind = trace::SpanKind::kernel;
    row.duration_ns = 10 + device;
    row.name = part.names.intern("gemm");
    part.spans.push_back(row);
  }
  std::vector<trace::TracePart> parts;
  parts.push_back(std::move(part));
  const std::vector<RankRun> runs = rank_runs(assemble(std::move(parts), {}));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].device, 1);
  EXPECT_EQ(runs[1].compute_ns, 11);
}

TEST(Ranks, OperationsAreRecognisedByTheirKernels) {
  EXPECT_EQ(collective_operation("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
            "AllReduce");
  EXPECT_EQ(collective_operation("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
            "SendRecv");
  EXPECT_EQ(collective_operation("void vllm::cross_device_reduce_1stage<float, 8>(args)"),
            "vllm::cross_device_reduce_1stage");
}

// Figures of a script that matches the k-th collective of each rank, in exact arithmetic on the µs
// of the files.
TEST(Ranks, OfARealJobAreAsCountedByHand) {
  const std::vector<std::string> files = trace::corpus_files("kineto/dlrm_8ranks");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  std::vector<RankRun> runs;
  for (const std::string& file : files) runs.push_back(rank_runs(trace::read_trace(file)).at(0));
  const RankReport report = compare_ranks(runs);
  const std::vector<std::int64_t> offset = {0, -1, -1, -2, -1, -1, -1, -1};
  const std::vector<std::int64_t> compute = {1034, 1246, 1068, 1240, 1126, 1041, 1051, 1059};
  const std::vector<std::int64_t> communication = {5798, 11336, 3492, 9774, 6587, 6251, 3558, 1746};
  const std::vector<std::int64_t> waited = {5588, 11125, 3280, 9563, 6370, 6041, 3342, 1534};
  const std::vector<std::uint64_t> last = {0, 0, 0, 0, 1, 2, 0, 5};
  const std::vector<std::int64_t> late = {0, 0, 0, 0, 14, 101, 0, 1309};
  ASSERT_EQ(report.rows.size(), 8U);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    const RankRow& row = report.rows[rank];
    EXPECT_EQ(row.rank, static_cast<std::int64_t>(rank));
    EXPECT_EQ(row.shared, 8U);
    EXPECT_EQ(row.clock.offset_ns, offset[rank] * kUs);
    EXPECT_LE(row.clock.residual_ns, 1 * kUs);
    EXPECT_EQ(row.compute_ns, compute[rank] * kUs);
    EXPECT_EQ(row.communication_ns, communication[rank] * kUs);
    EXPECT_EQ(row.waited_ns, waited[rank] * kUs);
    EXPECT_EQ(row.times_last, last[rank]);
    EXPECT_EQ(row.late_ns, late[rank] * kUs);
    EXPECT_EQ(row.causes[static_cast<std::size_t>(LateCause::host)], last[rank]);
  }
  const std::vector<std::int64_t> spread = {7624, 1101, 169, 125, 223, 534, 583, 886};
  ASSERT_EQ(report.collectives.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(report.collectives[i].spread_ns, spread[i] * kUs);
  EXPECT_EQ(report.stragglers, (std::vector<std::uint32_t>{7, 5, 4}));
  EXPECT_NEAR(*report.compute_imbalance_pct, 6.272, 0.001);
  EXPECT_TRUE(report.missing.empty());
}

TEST(Ranks, OfASampledJobShareWhatEndsTogether) {
  const std::vector<std::string> files = trace::corpus_files("kineto/two_ranks_sampled");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  std::vector<RankRun> runs;
  for (const std::string& file : files) runs.push_back(rank_runs(trace::read_trace(file)).at(0));
  const RankReport report = compare_ranks(runs);
  EXPECT_EQ(report.collectives.size(), 5U);  // of 10 each
  EXPECT_EQ(report.missing.size(), 126U);
  EXPECT_LT(std::abs(*report.rows[1].clock.offset_ns), 100 * kUs);
}

}  // namespace fathom::analyze::ranks_test
