#include "analyze/operations/operations.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "analyze/operations/launching_operators.h"
#include "random_trace.h"
#include "trace_maker.h"

namespace fathom::analyze::operations_test {

using trace::SpanId;
using trace::SpanKind;
using trace::Trace;

Trace trace_of(std::vector<trace::SpanRow> rows) {
  trace::TracePart part;
  const trace::TrackId track = part.track(trace::TrackKind::thread, 1, 1);
  for (trace::SpanRow& row : rows) {
    row.track = track;
    row.name = part.names.intern(std::string(1, static_cast<char>('a' + row.name)));
    part.spans.push_back(row);
  }
  std::vector<trace::TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), {});
}

trace::SpanRow span(trace::NameId name, std::int64_t start, std::int64_t duration,
                    SpanKind kind = SpanKind::scope) {
  trace::SpanRow row;
  row.name = name;
  row.start_ns = start;
  row.duration_ns = duration;
  row.kind = kind;
  return row;
}

// Self time by its definition: instants of the span that none of its children holds.
std::int64_t counted_self_time(const Trace& trace, SpanId id) {
  std::set<std::int64_t> instants;
  for (std::int64_t t = trace.spans.start_ns[id]; t < trace.spans.end_ns(id); ++t)
    instants.insert(t);
  for (SpanId child = 0; child < trace.spans.size(); ++child) {
    if (trace.spans.parent[child] != id) continue;
    for (std::int64_t t = trace.spans.start_ns[child]; t < trace.spans.end_ns(child); ++t) {
      instants.erase(t);
    }
  }
  return static_cast<std::int64_t>(instants.size());
}

TEST(Operations, AgreeWithCountingInstantsOnRandomTraces) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const Trace trace = trace::random_small_trace(random);
    std::map<std::pair<std::string_view, SpanKind>, std::array<std::int64_t, 3>> expected;
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      auto& [calls, total, self] = expected[{trace.name(id), trace.spans.kind[id]}];
      ++calls;
      total += trace.spans.duration_ns[id];
      self += counted_self_time(trace, id);
    }
    const std::vector<Operation> found = operations(trace);
    ASSERT_EQ(found.size(), expected.size());
    for (const Operation& operation : found) {
      const auto& [calls, total, self] = expected[{operation.name, operation.kind}];
      ASSERT_EQ(operation.durations.count(), static_cast<std::uint64_t>(calls));
      ASSERT_EQ(operation.durations.sum_ns(), total);
      ASSERT_EQ(operation.self_ns, self);
    }
  }
}

TEST(Operations, MostSelfTimeComesFirst) {
  const Trace trace = trace_of({span(0, 0, 100), span(1, 10, 80)});
  const std::vector<Operation> found = operations(trace);
  EXPECT_EQ(found[0].name, "b");
  EXPECT_EQ(found[0].self_ns, 80);
  EXPECT_EQ(found[1].self_ns, 20);
}

TEST(Operations, WhatNeverEndedHasNoDurationAndTakesNoneFromItsParent) {
  const Trace trace = trace_of({span(0, 0, 100), span(1, 10, 90, SpanKind::unfinished)});
  const std::vector<Operation> found = operations(trace);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].self_ns, 100);
}

TEST(Operations, NumberedStepsAreOneOperation) {
  trace::TracePart part;
  for (int step = 0; step < 3; ++step) {
    trace::SpanRow row = span(0, step * 10, 10, SpanKind::annotation);
    row.track = part.track(trace::TrackKind::thread, 1, 1);
    row.name = part.names.intern("ProfilerStep#" + std::to_string(step));
    part.spans.push_back(row);
  }
  std::vector<trace::TracePart> parts;
  parts.push_back(std::move(part));
  const Trace trace = assemble(std::move(parts), {});
  const std::vector<Operation> found = operations(trace);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "ProfilerStep#");
  EXPECT_EQ(found[0].durations.count(), 3U);
}

TEST(Bottlenecks, SharesAreOfAllSelfTimeAndAddUp) {
  const Trace trace = trace_of(
      {span(0, 0, 60), span(1, 60, 30, SpanKind::kernel), span(2, 90, 10, SpanKind::copy)});
  const std::vector<Operation> all = operations(trace);
  const std::vector<RankedOperation> found = bottlenecks(all, 2);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0].share_pct, 60);
  EXPECT_DOUBLE_EQ(found[1].cumulative_pct, 90);
  EXPECT_EQ(found[1].part, Part::gpu);
}

TEST(Bottlenecks, LeaveOutFramesOfNoKnownKindUnlessThereIsNothingElse) {
  const Trace mixed = trace_of({span(0, 0, 100, SpanKind::other), span(1, 200, 10)});
  const std::vector<Operation> all = operations(mixed);
  ASSERT_EQ(bottlenecks(all, 5).size(), 1U);
  EXPECT_EQ(all[bottlenecks(all, 5)[0].operation].name, "b");

  const Trace plain = trace_of({span(0, 0, 100, SpanKind::other)});
  EXPECT_EQ(bottlenecks(operations(plain), 5).size(), 1U);
}

TEST(Operations, AThreadThatWaitsForWorkIsNoBottleneck) {
  TraceMaker maker;
  maker.op("threading.py(359): wait", 0, 1000, 2, trace::SpanKind::python);
  maker.op("model.py(7): forward", 0, 100, 1, trace::SpanKind::python);
  const trace::Trace trace = maker.make();
  const std::vector<Operation> found = operations(trace);
  const std::vector<RankedOperation> ranked = bottlenecks(found, 5);
  ASSERT_EQ(ranked.size(), 1U);
  EXPECT_EQ(found[ranked[0].operation].name, "model.py(7): forward");
  EXPECT_EQ(ranked[0].share_pct, 100);
}

// What was waited for is ranked by itself; shares are of everything still.
TEST(Bottlenecks, AreNoWaitsForTheGpu) {
  TraceMaker maker;
  maker.call("cudaDeviceSynchronize", 0, 600).call("cudaMalloc", 600, 100);
  maker.op("Stream Sync", 700, 200, 1, SpanKind::sync).gpu("sgemm", 0, 100);
  const trace::Trace trace = maker.make();
  const std::vector<Operation> found = operations(trace);
  std::set<std::string_view> names;
  for (const RankedOperation& ranked : bottlenecks(found, 5)) {
    names.insert(found[ranked.operation].name);
    EXPECT_DOUBLE_EQ(ranked.share_pct, 10);
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"cudaMalloc", "sgemm"}));
}

TEST(LaunchingOperators, HaveTheWorkOfTheCallsInsideThem) {
  TraceMaker maker;
  maker.op("aten::linear", 0, 100).op("aten::mm", 10, 50).call("cudaLaunchKernel", 20, 5, 1);
  maker.call("cudaLaunchKernel", 70, 5, 2).call("cudaLaunchKernel", 200, 5, 3);
  maker.gpu("gemm", 300, 40, 1).gpu("bias", 340, 10, 2).gpu("gemm", 350, 5, 3);
  const trace::Trace trace = maker.make();
  std::vector<std::pair<std::string_view, std::int64_t>> found;
  for (const LaunchingOperator& one : launching_operators(trace, gpu_work(trace))) {
    found.emplace_back(one.name, one.sum_ns);
    EXPECT_EQ(one.kernels.size(), 1U);
  }
  EXPECT_EQ(found, (std::vector<std::pair<std::string_view, std::int64_t>>{
                       {"aten::mm", 40}, {"aten::linear", 10}, {"", 5}}));
}

TEST(LaunchingOperators, AreNoneWhereNoLaunchIsKnown) {
  TraceMaker maker;
  maker.gpu("gemm", 300, 40);
  const trace::Trace trace = maker.make();
  EXPECT_TRUE(launching_operators(trace, gpu_work(trace)).empty());
}

}  // namespace fathom::analyze::operations_test
