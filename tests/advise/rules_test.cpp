#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "advise/machine.h"
#include "advise/suggest.h"

// What sets off the rules whose optimum no small machine shows, and what does not.
namespace fathom::advise::rules_test {

using analyze::TraceMaker;
using trace::Trace;

const Suggestion* find(const Suggestions& found, const std::string& rule) {
  const auto at = std::find_if(found.list.begin(), found.list.end(),
                               [&](const Suggestion& one) { return one.rule == rule; });
  return at == found.list.end() ? nullptr : &*at;
}

// A launch at `at`, its work right after it, and a wait for that; returns when the wait is over.
std::int64_t work(TraceMaker& maker, const std::string& name, std::int64_t at,
                  std::int64_t duration, std::int64_t correlation) {
  maker.call("cudaLaunchKernel", at, 5 * kUs, correlation);
  maker.gpu(name, at + 9 * kUs, duration, correlation);
  maker.call("cudaDeviceSynchronize", at + 5 * kUs, duration + 7 * kUs);
  return at + 12 * kUs + duration;
}

TEST(Rules, CommunicationThatNothingCoversIsToBeHidden) {
  TraceMaker maker;  // the host is far ahead, and one stream has it all
  std::int64_t now = 20 * kUs;
  for (std::int64_t i = 0; i < 40; ++i) {
    const bool exchanges = i % 2 == 1;
    const std::int64_t duration = exchanges ? kMs : 2 * kMs;
    maker.call("cudaLaunchKernel", i * 6 * kUs, 6 * kUs, i + 1);
    maker.gpu(exchanges ? "ncclKernel_AllReduce" : "gemm", now, duration, i + 1);
    now += duration + kUs;
  }
  const Trace trace = maker.make();
  const Suggestions found = suggest(trace);
  const Suggestion* one = find(found, "overlap");
  ASSERT_TRUE(one != nullptr && found.has_gains) << found.why_no_gains;
  EXPECT_EQ(one->operation, "ncclKernel_AllReduce");
  // 70 % of 20 ms of communication.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 14e6, 0.5e6);
}

// They are outside of the run: nothing of them is saved, and shares are of the rest.
TEST(Rules, CallsThatSetUpTheDeviceAreNoPartOfTheRun) {
  TraceMaker maker;
  maker.call("cudaMalloc", 0, 50 * kMs);
  std::int64_t now = 50 * kMs;
  for (std::int64_t i = 0; i < 20; ++i) now = work(maker, "gemm", now, kMs, i + 1);
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = find(found, "setup");
  EXPECT_TRUE(one == nullptr || !one->gain);
  EXPECT_TRUE(found.has_gains) << found.why_no_gains;
  EXPECT_NEAR(found.run_ns, found.measured_ns - 50e6, 1e5);
}

TEST(Rules, Fp32ProductsLeaveTensorCoresIdleWhereThereAreAny) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < 20; ++i) now = work(maker, "volta_sgemm_128x64_nt", now, kMs, i + 1);
  trace::RunInfo run;
  run.devices.push_back({0, "Tesla V100-SXM2-16GB", {}, {}});
  Trace trace = maker.make(run);
  EXPECT_NE(find(suggest(trace), "precision"), nullptr);
  trace.run.devices[0].name = "Tesla P100";
  EXPECT_EQ(find(suggest(trace), "precision"), nullptr);
}

// 30 calls of 200 µs that copy to the GPU, compute for 3 µs and copy back.
Trace round_trips_of(const std::string& operation, const std::string& dims) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < 30; ++i) {
    maker.op(operation, now, 200 * kUs);
    if (!dims.empty()) {
      maker.shaped(dims).with_args("{\"Input Dims\": [" + dims +
                                   "], \"Input type\": [\"float\", \"float\"]}");
    }
    maker.call("cudaMemcpy", now + 2 * kUs, 70 * kUs, 3 * i + 1);
    maker.gpu("Memcpy HtoD (Pageable -> Device)", now + 6 * kUs, 60 * kUs, 3 * i + 1, 7,
              trace::SpanKind::copy);
    maker.call("cudaLaunchKernel", now + 75 * kUs, 5 * kUs, 3 * i + 2);
    maker.gpu("small", now + 84 * kUs, 3 * kUs, 3 * i + 2);
    maker.call("cudaMemcpy", now + 90 * kUs, 70 * kUs, 3 * i + 3);
    maker.gpu("Memcpy DtoH (Device -> Pageable)", now + 94 * kUs, 60 * kUs, 3 * i + 3, 7,
              trace::SpanKind::copy);
    now += 210 * kUs;
  }
  return maker.make();
}

TEST(Rules, AnOperationThatGoesToTheGpuForLittleStaysOnTheHost) {
  const Suggestions found = suggest(round_trips_of("tiny", ""));
  const Suggestion* one = find(found, "routing");
  ASSERT_TRUE(one != nullptr && found.has_gains) << found.why_no_gains;
  EXPECT_EQ(one->operation, "tiny");
  // 30 µs on the host instead of 200 µs, less what its calls take to return.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 30 * 170e3, 30 * 15e3);
}

TEST(Rules, WhereTheHostWasMeasuredRoutingGoesByThat) {
  const Trace trace = round_trips_of("aten::mm", "[32, 64], [64, 16]");
  const auto takes = [](double ns) {
    return [ns](std::string_view operation, double size) {
      EXPECT_EQ(operation, "matmul");
      EXPECT_NEAR(size, std::cbrt(32 * 64 * 16), 1e-6);
      return std::optional(ns);
    };
  };
  const Suggestions found = suggest(trace, false, takes(80e3));
  const Suggestion* one = find(found, "routing");
  ASSERT_TRUE(one != nullptr && one->gain);
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 30 * 120e3, 30 * 15e3);
  EXPECT_NE(one->expected_improvement.find("2.4 ms that fathom tune measured on this machine"),
            std::string::npos)
      << one->expected_improvement;
  // Slower than the whole trip: it stays where it is.
  EXPECT_EQ(find(suggest(trace, true, takes(250e3)), "routing"), nullptr);
  // Not measured: as the kernels say.
  const auto unknown = [](std::string_view, double) { return std::optional<double>(); };
  EXPECT_NE(find(suggest(trace, false, unknown), "routing"), nullptr);
}

TEST(Rules, FullMemoryIsAdviceWithoutATime) {
  TraceMaker maker;
  work(maker, "gemm", 0, kMs, 1);
  trace::RunInfo run;
  run.devices.push_back({0, "a GPU", 1'000'000, {}});
  Trace trace = maker.make(run);
  trace::MemoryEvent event;
  event.device = trace::MemoryDevice::gpu;
  event.device_index = 0;
  event.bytes = 950'000;
  event.total_allocated = 950'000;
  trace.memory.push_back(event);
  const Suggestions found = suggest(trace);
  const Suggestion* one = find(found, "capacity");
  ASSERT_TRUE(one != nullptr && found.has_gains) << found.why_no_gains;
  EXPECT_FALSE(one->gain);
  trace.memory[0].total_allocated = 800'000;
  EXPECT_EQ(find(suggest(trace), "capacity"), nullptr);
}

TEST(Rules, OneBatchPerStepIsNoRepeat) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    maker.step("ProfilerStep#" + std::to_string(i), now, 3 * kMs);
    maker.call("cudaMemcpy", now + kUs, 600 * kUs, 2 * i + 1);
    maker.gpu("Memcpy HtoD (Pageable -> Device)", now + 6 * kUs, 590 * kUs, 2 * i + 1, 7,
              trace::SpanKind::copy);
    maker.bytes(1'000'000);
    work(maker, "gemm", now + 610 * kUs, 2 * kMs, 2 * i + 2);
    now += 3 * kMs;
  }
  const Trace trace = maker.make();
  EXPECT_EQ(find(suggest(trace), "repeats"), nullptr);
  EXPECT_NE(find(suggest(trace), "copies"), nullptr);
}

// A call that waits for what it launches is its launch: without that, nothing before it matters.
TEST(Rules, WhatComesBeforeABlockingWriteCounts) {
  TraceMaker maker;
  maker.call("clBuildProgram", 0, 50 * kMs);
  maker.op("clEnqueueWriteBuffer", 50 * kMs, 300 * kUs, 1, trace::SpanKind::sync);
  maker.correlated(1);
  maker.gpu("WriteBuffer", 50 * kMs + 20 * kUs, 270 * kUs, 1, 7, trace::SpanKind::copy);
  std::int64_t now = 51 * kMs;
  for (std::int64_t i = 0; i < 20; ++i) now = work(maker, "gemm", now, kMs, i + 2);
  Trace trace = maker.make();
  trace.run.format = "Fathom run";  // all of the program, building too
  const Suggestions found = suggest(trace);
  const Suggestion* one = find(found, "setup");
  ASSERT_TRUE(one != nullptr && found.has_gains) << found.why_no_gains;
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 45e6, 1e6);
}

}  // namespace fathom::advise::rules_test
