#include "report/page/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/given_trace.h"

namespace fathom::report::page_path_test {

using trace::SpanKind;
using trace::Trace;

// As web/src/timeline/path.ts reads it.
struct Read {
  nlohmann::json head;
  std::vector<std::uint64_t> durations;
  std::vector<std::uint64_t> bounds;
  std::vector<std::uint64_t> spans;  // as they are packed
};

Read read(const std::string& block) {
  std::vector<std::string> columns;
  for (std::size_t at = 0; at < block.size();) {
    std::size_t length = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      length |= std::size_t{static_cast<unsigned char>(block.at(at++))} << shift;
    }
    columns.push_back(block.substr(at, length));
    at += length;
  }
  const auto numbers = [](const std::string& bytes) {
    std::vector<std::uint64_t> found;
    std::uint64_t value = 0;
    int shift = 0;
    for (const char byte : bytes) {
      value |= std::uint64_t{static_cast<unsigned char>(byte) & 0x7FU} << shift;
      shift += 7;
      if ((static_cast<unsigned char>(byte) & 0x80U) != 0) continue;
      found.push_back(value);
      value = 0;
      shift = 0;
    }
    return found;
  };
  return {nlohmann::json::parse(columns.at(0)), numbers(columns.at(1)), numbers(columns.at(2)),
          numbers(columns.at(3))};
}

std::int64_t sum_of(const std::vector<std::uint64_t>& numbers) {
  return static_cast<std::int64_t>(std::accumulate(numbers.begin(), numbers.end(), 0ULL));
}

TEST(PagePath, SegmentsAddUpToTheRunAndLeadToTheirSpans) {
  const Trace trace = trace_of({{"load", SpanKind::cpu_op, 1000, 500},
                                {"gemm", SpanKind::kernel, 1600, 300},
                                {"gemm", SpanKind::kernel, 1900, 200}});
  const explain::Analysis analysis(trace, "trace.json");
  const Read path = read(page_path(analysis, page_layout(trace), 400));
  EXPECT_EQ(path.head["begin_ns"], 600);
  EXPECT_EQ(path.head["least_ns"], 0);
  EXPECT_EQ(path.head["bounds"].size(), analyze::kBoundCount);
  EXPECT_EQ(sum_of(path.durations), analysis.critical_path().total_ns());
  EXPECT_EQ(path.bounds.size(), path.durations.size());
  const auto known = std::count_if(path.bounds.begin(), path.bounds.end(),
                                   [](std::uint64_t bound) { return bound % 2 == 1; });
  EXPECT_EQ(static_cast<std::size_t>(known), path.spans.size());
  EXPECT_GE(known, 2) << "both kernels at least";
}

TEST(PagePath, ALongOneIsThinnedOutAndKeepsItsTimes) {
  std::vector<Given> spans;
  for (int i = 0; i < 100'000; ++i) {
    spans.push_back({i % 2 == 0 ? "a" : "b", SpanKind::kernel, i * 100, 90 + i % 10});
  }
  const Trace trace = trace_of(spans);
  const explain::Analysis analysis(trace, "trace.json");
  const Read path = read(page_path(analysis, page_layout(trace), 0));
  EXPECT_LE(path.durations.size(), 60'001U);
  EXPECT_GT(path.head["least_ns"], 0);
  EXPECT_EQ(sum_of(path.durations), analysis.critical_path().total_ns());
}

// Set-up is drawn where it was, but is no part of what the path is said to be bound by.
TEST(PagePath, SetUpIsDrawnAndNotCounted) {
  constexpr std::int64_t kMs = 1'000'000;
  const Trace trace = trace_of({{"cudaMalloc", SpanKind::runtime_call, 0, 50 * kMs},
                                {"cudaLaunchKernel", SpanKind::runtime_call, 50 * kMs, 1000},
                                {"gemm", SpanKind::kernel, 50 * kMs + 2000, 10 * kMs}});
  const explain::Analysis analysis(trace, "trace.json");
  ASSERT_EQ(analysis.wall().set_up_ns(), 50 * kMs);
  const Read path = read(page_path(analysis, page_layout(trace), 0));
  EXPECT_EQ(path.head["begin_ns"], 0);
  EXPECT_EQ(sum_of(path.durations), 60 * kMs + 2000);
  std::int64_t counted = 0;
  for (const nlohmann::json& bound : path.head["bounds"])
    counted += bound["ns"].get<std::int64_t>();
  EXPECT_EQ(counted, 10 * kMs + 2000);
}

TEST(PagePath, OfATraceWithoutGpuWorkThereIsNone) {
  const Trace trace = trace_of({{"op", SpanKind::cpu_op, 0, 10}});
  const explain::Analysis analysis(trace, "trace.json");
  EXPECT_EQ(page_path(analysis, page_layout(trace), 0), "");
}

}  // namespace fathom::report::page_path_test
