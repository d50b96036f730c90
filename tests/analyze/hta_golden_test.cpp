// Our figures of real traces against those of Holistic Trace Analysis 0.6.1. Where HTA is sound
// they are equal. Where we differ, a test of its own says why, and that nothing else is different:
// it gives our analysis the trace as HTA sees it.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analyze/hta/hta.h"
#include "analyze/operations/steps.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::analyze::hta_golden_test {

using nlohmann::json;
using trace::SpanId;
using trace::SpanKind;
using trace::Trace;

// Times are in µs, as HTA's are.
double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1000;
}

struct Case {
  std::vector<Trace> traces;
  json golden;
};

// Empty without the corpus.
Case load(const std::string& name) {
  Case found;
  for (const std::string& file : trace::corpus_files("kineto")) {
    const bool is_it = file.find("/" + name + ".json") != std::string::npos ||
                       file.find("/" + name + "/") != std::string::npos;
    if (is_it) found.traces.push_back(trace::read_trace(file));
  }
  for (const std::string& file : trace::corpus_files("golden/hta")) {
    if (std::filesystem::path(file).filename() == name + ".json") {
      std::ifstream in(file);
      found.golden = json::parse(in);
    }
  }
  return found;
}

const RankFindings& of_rank(const std::vector<RankFindings>& ranks, std::int64_t rank) {
  for (const RankFindings& found : ranks) {
    if (found.rank.value_or(0) == rank) return found;
  }
  throw std::runtime_error("no such rank");
}

std::vector<RankFindings> findings(const Case& given) {
  std::vector<RankFindings> ranks;
  for (const Trace& trace : given.traces) {
    for (RankFindings& found : holistic(trace, "trace.json")) ranks.push_back(std::move(found));
  }
  return ranks;
}

void expect_temporal(const std::vector<RankFindings>& ranks, const json& golden) {
  for (const json& row : golden["temporal_breakdown"]) {
    const Temporal& ours = *of_rank(ranks, row["rank"]).temporal;
    EXPECT_EQ(us(ours.total_ns), row["kernel_time(us)"]);
    EXPECT_EQ(us(ours.idle_ns), row["idle_time(us)"]);
    EXPECT_EQ(us(ours.compute_ns), row["compute_time(us)"]);
    EXPECT_EQ(us(ours.non_compute_ns()), row["non_compute_time(us)"]);
  }
}

void expect_overlap(const std::vector<RankFindings>& ranks, const json& golden) {
  for (const json& row : golden["comm_comp_overlap"]) {
    const std::optional<double> ours = of_rank(ranks, row["rank"]).comm_comp_overlap_pct;
    const json& theirs = row["comp_comm_overlap_pctg"];
    ASSERT_EQ(ours.has_value(), theirs.is_number());
    EXPECT_NEAR(ours.value_or(0), ours ? theirs.get<double>() : 0, 0.005);
  }
}

void expect_kernels(const std::vector<RankFindings>& ranks, const json& golden) {
  std::map<std::pair<std::int64_t, std::string>, const KernelStats*> ours;
  for (const RankFindings& rank : ranks) {
    for (const KernelStats& kernel : rank.kernels) {
      ours[{rank.rank.value_or(0), kernel.name}] = &kernel;
    }
  }
  const json& theirs = golden["gpu_kernel_breakdown_all"]["kernels"];
  EXPECT_EQ(ours.size(), theirs.size());
  for (const json& row : theirs) {
    const auto at = ours.find({row["rank"].get<std::int64_t>(), row["name"].get<std::string>()});
    ASSERT_NE(at, ours.end()) << row["name"];
    const base::DurationStats& stats = at->second->durations;
    EXPECT_EQ(us(stats.sum_ns()), row["sum (us)"]) << row["name"];
    EXPECT_EQ(us(stats.max_ns()), row["max (us)"]) << row["name"];
    EXPECT_EQ(us(stats.min_ns()), row["min (us)"]) << row["name"];
    // Calls, too: HTA does not print them, but its mean has them.
    EXPECT_NEAR(stats.mean_ns() / 1000, row["mean (us)"], 1e-6) << row["name"];
    EXPECT_NEAR(stats.std_dev_ns() / 1000, row["stddev"], 1e-6) << row["name"];
  }
}

void expect_types(const std::vector<RankFindings>& ranks, const json& golden) {
  for (const json& row : golden["gpu_kernel_breakdown_all"]["kernel_type"]) {
    std::string type = row["kernel_type"];
    for (const auto& [theirs, ours] :
         std::map<std::string, std::string>{{"COMPUTATION", "compute"},
                                            {"COMMUNICATION", "communication"},
                                            {"MEMORY", "memory"}}) {
      if (const auto at = type.find(theirs); at != std::string::npos) {
        type.replace(at, theirs.size(), ours);
      }
    }
    std::int64_t sum = 0;
    for (const RankFindings& rank : ranks) {
      for (const KernelTypeTime& time : rank.kernel_types)
        sum += time.type == type ? time.sum_ns : 0;
    }
    EXPECT_EQ(us(sum), row["sum"]) << type;
  }
}

// HTA knows these calls alone.
void expect_launches(const std::vector<RankFindings>& ranks, const json& golden) {
  std::uint64_t count = 0;
  std::int64_t cpu = 0;
  std::int64_t gpu = 0;
  std::int64_t delay = 0;
  std::int64_t longest_delay = 0;
  for (const RankFindings& rank : ranks) {
    for (const LaunchStats& call : rank.launches.by_call) {
      if (call.name != "cudaLaunchKernel" && call.name != "cudaLaunchKernelExC" &&
          call.name != "cudaMemcpyAsync" && call.name != "cudaMemsetAsync") {
        continue;
      }
      count += call.count();
      cpu += call.cpu.sum_ns();
      gpu += call.gpu.sum_ns();
      delay += call.delay.sum_ns();
      longest_delay = std::max(longest_delay, call.delay.max_ns());
    }
  }
  const json& theirs = golden["cuda_kernel_launch_stats"];
  EXPECT_EQ(count, theirs["rows"]);
  EXPECT_EQ(us(cpu), theirs["cpu_duration"]["sum"]);
  EXPECT_EQ(us(gpu), theirs["gpu_duration"]["sum"]);
  EXPECT_EQ(us(delay), theirs["launch_delay"]["sum"]);
  EXPECT_EQ(us(longest_delay), theirs["launch_delay"]["max"]);
}

void expect_idle(const std::vector<RankFindings>& ranks, const json& golden) {
  for (const json& row : golden["idle_time_breakdown"]["breakdown"]) {
    const RankFindings& rank = of_rank(ranks, row["rank"]);
    const auto at = std::find_if(
        rank.idle_streams.begin(), rank.idle_streams.end(),
        [&](const StreamIdle& idle) { return idle.stream == row["stream"].get<std::int64_t>(); });
    ASSERT_NE(at, rank.idle_streams.end());
    const std::string cause = row["idle_category"];
    const std::int64_t ours = cause == "host_wait"     ? at->causes.host_wait_ns
                              : cause == "kernel_wait" ? at->causes.kernel_wait_ns
                                                       : at->causes.other_ns;
    EXPECT_EQ(us(ours), row["idle_time"]) << row["stream"] << " " << cause;
  }
}

void expect_queue_maxima(const std::vector<RankFindings>& ranks, const json& golden) {
  for (const json& row : golden["queue_length_summary"]) {
    for (const QueueLength& queue : of_rank(ranks, row["rank"]).queues) {
      if (queue.stream != row["stream"].get<std::int64_t>()) continue;
      EXPECT_EQ(static_cast<double>(queue.max), row["queue_length_max"]);
      EXPECT_EQ(static_cast<double>(queue.launched * 2), row["queue_length_count"]);
    }
  }
}

void expect_all_but_idle_causes(const Case& given) {
  const std::vector<RankFindings> ranks = findings(given);
  expect_temporal(ranks, given.golden);
  expect_overlap(ranks, given.golden);
  expect_kernels(ranks, given.golden);
  expect_types(ranks, given.golden);
  expect_launches(ranks, given.golden);
}

// A gap as HTA has it: from the end of the piece of work before, whatever else is still running.
// Returns the sum of those that are less than nothing.
std::int64_t negative_gaps_ns(const GpuWork& work, std::int64_t stream_number) {
  std::int64_t sum = 0;
  for (const GpuStream& stream : work.streams) {
    if (stream.stream != stream_number) continue;
    const std::span<const WorkRow> rows = work.of(stream);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      sum += std::min<std::int64_t>(0, rows[i].start_ns - rows[i - 1].end_ns);
    }
  }
  return sum;
}

// HTA adds negative gaps to kernel wait.
void expect_idle_but_for_negative_gaps(const Case& given) {
  const trace::Trace& trace = given.traces.front();
  const GpuWork work = gpu_work(trace, whole_steps_end(trace, step_spans(trace)));
  json golden = given.golden;
  for (json& row : golden["idle_time_breakdown"]["breakdown"]) {
    if (row["idle_category"] != "kernel_wait") continue;
    row["idle_time"] = row["idle_time"].get<double>() - us(negative_gaps_ns(work, row["stream"]));
  }
  expect_idle(findings(given), golden);
}

// As HTA rounds what has digits below µs: starts up, ends down. It may leave less than nothing.
void round_as_hta(Trace& trace) {
  const auto floor_us = [](std::int64_t ns) {
    return ns >= 0 ? ns / 1000 * 1000 : -((-ns + 999) / 1000) * 1000;
  };
  trace::Spans& spans = trace.spans;
  for (SpanId id = 0; id < spans.size(); ++id) {
    const std::int64_t end = floor_us(spans.end_ns(id));
    spans.start_ns[id] = floor_us(spans.start_ns[id] + 999);
    spans.duration_ns[id] = end - spans.start_ns[id];
  }
}

class GoldenHta : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenHta, IsEqualOnTracesInMicroseconds) {
  const Case given = load(GetParam());
  if (given.traces.empty()) GTEST_SKIP() << "no corpus";
  expect_all_but_idle_causes(given);
  expect_idle(findings(given), given.golden);
  expect_queue_maxima(findings(given), given.golden);
}

INSTANTIATE_TEST_SUITE_P(Corpus, GoldenHta,
                         ::testing::Values("v100_rank1of2", "a100_rank3of8", "two_ranks_sampled"),
                         [](const auto& test) { return std::string(test.param); });

// HTA counts what it calls GPU rows: synchronisation records have a stream, so they are busy time.
// Waiting is not work; all else of these traces is equal.
TEST(GoldenHtaDifference, SynchronisationRecordsAreNotWork) {
  for (const char* name :
       {"a100_alexnet_cuda_sync", "a100_simple_add", "a100_event_sync_multi_stream"}) {
    Case given = load(name);
    if (given.traces.empty()) GTEST_SKIP() << "no corpus";
    const std::vector<RankFindings> ranks = findings(given);
    expect_kernels(ranks, given.golden);
    expect_types(ranks, given.golden);
    expect_launches(ranks, given.golden);
    expect_idle(ranks, given.golden);
    Trace& trace = given.traces.front();
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      const bool on_stream = trace.tracks[trace.spans.track[id]].stream.has_value();
      if (trace.spans.kind[id] == SpanKind::sync && on_stream)
        trace.spans.kind[id] = SpanKind::fill;
    }
    expect_temporal(findings(given), given.golden);
  }
}

// HTA drops work whose launch is not in the trace when it leaves out the last step, and so finds
// the GPU idle while it ran. It counts no launched graph either, so queues are longer than it says.
TEST(GoldenHtaDifference, WorkWithoutItsLaunchIsKept) {
  Case given = load("v100_rank1of2_other");
  if (given.traces.empty()) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(findings(given).front().unlinked_work, 614U);
  EXPECT_LT(us(findings(given).front().temporal->idle_ns),
            given.golden["temporal_breakdown"][0]["idle_time(us)"]);
  Trace& trace = given.traces.front();
  const GpuWork work = gpu_work(trace);
  for (const WorkRow& row : work.rows) {
    if (row.launch == trace::kNoSpan) trace.spans.kind[row.span] = SpanKind::other;
  }
  expect_all_but_idle_causes(given);
  expect_idle_but_for_negative_gaps(given);
}

// HTA rounds starts up and ends down to µs, and so takes up to 2 µs off each kernel.
TEST(GoldenHtaDifference, NanosecondsAreKept) {
  for (const char* name : {"a100_rank0of2_nccl_args_ns", "h100_bert_small"}) {
    Case given = load(name);
    if (given.traces.empty()) GTEST_SKIP() << "no corpus";
    const Temporal exact = *findings(given).front().temporal;
    const json& theirs = given.golden["temporal_breakdown"][0];
    EXPECT_NEAR(us(exact.total_ns) / theirs["kernel_time(us)"].get<double>(), 1, 0.001);
    EXPECT_LT(us(exact.idle_ns), theirs["idle_time(us)"]);
    EXPECT_GT(us(exact.compute_ns), theirs["compute_time(us)"]);
    for (Trace& trace : given.traces) round_as_hta(trace);
    expect_all_but_idle_causes(given);
    expect_idle_but_for_negative_gaps(given);
  }
}

// To HTA, an all-reduce that is not NCCL's is computation; and a CPU operator with an argument
// `stream` (Triton's) is GPU work, of 74 µs here.
TEST(GoldenHtaDifference, AllReduceKernelsOfFrameworksAreCommunication) {
  Case given = load("b200_vllm_eager");
  if (given.traces.empty()) GTEST_SKIP() << "no corpus";
  for (Trace& trace : given.traces) round_as_hta(trace);
  const std::vector<RankFindings> ranks = findings(given);
  std::int64_t all_reduce = 0;
  for (const KernelStats& kernel : ranks.front().kernels) {
    if (kernel.name.find("multimem_all_reduce") == std::string::npos) continue;
    EXPECT_EQ(kernel.type, WorkType::communication);
    all_reduce += kernel.durations.sum_ns();
  }
  EXPECT_GT(all_reduce, 0);
  const json& theirs = given.golden["temporal_breakdown"][0];
  EXPECT_EQ(us(ranks.front().temporal->total_ns), theirs["kernel_time(us)"]);
  EXPECT_NEAR(us(ranks.front().temporal->compute_ns + all_reduce), theirs["compute_time(us)"], 74);
  EXPECT_NEAR(us(ranks.front().temporal->idle_ns), theirs["idle_time(us)"], 74);
  json golden = given.golden;
  for (json& row : golden["gpu_kernel_breakdown_all"]["kernels"]) {
    if (row["sum (us)"] != 75 || row["max (us)"] != 74) continue;
    row["sum (us)"] = row["max (us)"] = row["min (us)"] = row["mean (us)"] = 1;
    row["stddev"] = 0;
  }
  expect_kernels(ranks, golden);
  expect_launches(ranks, golden);
  expect_idle_but_for_negative_gaps(given);
}

}  // namespace fathom::analyze::hta_golden_test
