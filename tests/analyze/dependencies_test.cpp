#include "analyze/critical_path/dependencies.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/critical_path/runtime_calls.h"
#include "trace_maker.h"

namespace fathom::analyze::dependencies_test {

using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;
using trace::Trace;

constexpr std::int64_t kUs = 1'000;

// By its definition: of the spans that run, the one that began last.
SpanId innermost(const Trace& trace, const trace::Track& track, std::int64_t instant) {
  SpanId found = kNoSpan;
  for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
    if (trace.spans.start_ns[id] <= instant && instant < trace.spans.end_ns(id)) found = id;
  }
  return found;
}

TEST(HostLines, ShowTheInnermostSpanOfEveryInstant) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Trace trace = random_gpu_trace(random);
    const HostLines lines = host_lines(trace);
    for (const HostThread& thread : lines.threads) {
      for (std::uint32_t i = thread.first; i < thread.last; ++i) {
        ASSERT_LT(lines.start_ns[i], lines.start_ns[i + 1]);
        ASSERT_TRUE(i + 1 == thread.last || lines.span[i] != lines.span[i + 1]);
        const std::int64_t middle = (lines.start_ns[i] + lines.start_ns[i + 1]) / 2;
        for (const std::int64_t instant : {lines.start_ns[i], middle, lines.start_ns[i + 1] - 1}) {
          ASSERT_EQ(lines.span[i], innermost(trace, trace.tracks[thread.track], instant));
        }
        ASSERT_EQ(lines.piece_before(thread, lines.start_ns[i + 1]), i);
      }
    }
  }
}

TEST(Dependencies, HoldWhatTheyPromiseOnRandomTraces) {
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    const Trace trace = random_gpu_trace(random);
    const Dependencies found = dependencies(trace);
    for (const GpuWait& wait : found.gpu_waits) {
      ASSERT_NE(trace.spans.track[found.gpu.rows[wait.work].span],
                trace.spans.track[found.gpu.rows[wait.on].span]);
      ASSERT_LT(found.gpu.rows[wait.on].start_ns, found.gpu.rows[wait.work].start_ns);
    }
    for (const HostWait& wait : found.host_waits) {
      const std::int64_t returned = trace.spans.end_ns(wait.call);
      ASSERT_LE(found.gpu.rows[wait.on].end_ns, returned + 20 * kUs);
      ASSERT_NE(call_role(trace.name(wait.call)), CallRole::stream_waits);
    }
    ASSERT_TRUE(found.queue_waits.empty());  // too few launches for that
    for (const HandOver& over : found.hand_overs) {
      ASSERT_NE(over.thread, over.from);
      ASSERT_LE(over.from_time_ns, over.time_ns);
    }
  }
}

// What a call waits for, as names of the work.
std::vector<std::string> waited_for(const Trace& trace, std::string_view call) {
  const Dependencies found = dependencies(trace);
  std::vector<std::string> names;
  for (const HostWait& wait : found.host_waits) {
    if (trace.name(wait.call) == call) names.emplace_back(trace.name(found.gpu.rows[wait.on].span));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TraceMaker two_busy_streams() {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("a", 10 * kUs, 50 * kUs, 1, 7);
  maker.call("cudaLaunchKernel", 5 * kUs, 5 * kUs, 2).gpu("b", 20 * kUs, 80 * kUs, 2, 8);
  return maker;
}

TEST(Dependencies, ADeviceSynchronisationWaitsForTheLastWorkOfEachStream) {
  const Trace trace = two_busy_streams().call("cudaDeviceSynchronize", 12 * kUs, 95 * kUs).make();
  EXPECT_EQ(waited_for(trace, "cudaDeviceSynchronize"), (std::vector<std::string>{"a", "b"}));
}

TEST(Dependencies, AStreamSynchronisationWaitsForTheStreamThatFits) {
  // Stream 8 was not done when the call returned, so the call was not for it.
  const Trace trace = two_busy_streams().call("cudaStreamSynchronize", 12 * kUs, 50 * kUs).make();
  EXPECT_EQ(waited_for(trace, "cudaStreamSynchronize"), std::vector<std::string>{"a"});
}

TEST(Dependencies, ARecordSaysWhichStreamWasWaitedFor) {
  const Trace trace = two_busy_streams()
                          .call("cudaStreamSynchronize", 12 * kUs, 95 * kUs, 3)
                          .gpu("Stream Sync", 12 * kUs, 95 * kUs, 3, 7, SpanKind::sync)
                          .make();
  EXPECT_EQ(waited_for(trace, "cudaStreamSynchronize"), std::vector<std::string>{"a"});
}

TEST(Dependencies, ASynchronisationOfAnEventWaitsForWhatEndedLastBeforeItReturned) {
  const Trace trace = two_busy_streams()
                          .call("cudaLaunchKernel", 10 * kUs, 1 * kUs, 3)
                          .gpu("later", 100 * kUs, 500 * kUs, 3, 8)
                          .call("cudaEventSynchronize", 12 * kUs, 90 * kUs)
                          .make();
  EXPECT_EQ(waited_for(trace, "cudaEventSynchronize"), std::vector<std::string>{"b"});
}

TEST(Dependencies, ACopyThatIsOverWhenItsCallReturnsBlocks) {
  const Trace trace = TraceMaker()
                          .call("cudaMemcpyAsync", 0, 40 * kUs, 1)
                          .gpu("blocking", 20 * kUs, 15 * kUs, 1, 7, SpanKind::copy)
                          .call("cudaMemcpyAsync", 50 * kUs, 5 * kUs, 2)
                          .gpu("not", 60 * kUs, 15 * kUs, 2, 7, SpanKind::copy)
                          .make();
  EXPECT_EQ(waited_for(trace, "cudaMemcpyAsync"), std::vector<std::string>{"blocking"});
}

TEST(Dependencies, MemoryGivenBackWaitsWhereItShows) {
  EXPECT_EQ(waited_for(two_busy_streams().call("cudaFree", 12 * kUs, 95 * kUs).make(), "cudaFree"),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(waited_for(two_busy_streams().call("cudaFree", 12 * kUs, 2 * kUs).make(), "cudaFree")
                  .empty());
}

std::vector<std::pair<std::string, std::string>> gpu_waits_of(const Trace& trace) {
  const Dependencies found = dependencies(trace);
  std::vector<std::pair<std::string, std::string>> names;
  for (const GpuWait& wait : found.gpu_waits) {
    names.emplace_back(trace.name(found.gpu.rows[wait.work].span),
                       trace.name(found.gpu.rows[wait.on].span));
  }
  return names;
}

using Waits = std::vector<std::pair<std::string, std::string>>;

TEST(Dependencies, AStreamThatWasMadeToWaitBeginsAfterTheOther) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("gemm", 10 * kUs, 50 * kUs, 1, 7);
  maker.call("cudaStreamWaitEvent", 6 * kUs, 1 * kUs);
  maker.call("cudaLaunchKernel", 8 * kUs, 5 * kUs, 2).gpu("nccl", 63 * kUs, 20 * kUs, 2, 8);
  EXPECT_EQ(gpu_waits_of(maker.make()), (Waits{{"nccl", "gemm"}}));
}

TEST(Dependencies, WithoutACallToWaitNothingIsInferredFromTimesAlone) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("gemm", 10 * kUs, 50 * kUs, 1, 7);
  maker.call("cudaLaunchKernel", 8 * kUs, 5 * kUs, 2).gpu("other", 63 * kUs, 20 * kUs, 2, 8);
  EXPECT_EQ(gpu_waits_of(maker.make()), Waits());
}

TEST(Dependencies, WorkThatIsReadyForLongWaitsForRoom) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("large", 10 * kUs, 500 * kUs, 1, 7);
  maker.call("cudaLaunchKernel", 8 * kUs, 5 * kUs, 2).gpu("small", 480 * kUs, 60 * kUs, 2, 8);
  EXPECT_EQ(gpu_waits_of(maker.make()), (Waits{{"small", "large"}}));
}

TEST(Dependencies, ARecordSaysWhichEventAStreamWaitedFor) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("before", 10 * kUs, 10 * kUs, 1, 7);
  maker.call("cudaEventRecord", 6 * kUs, 1 * kUs, 2);
  maker.call("cudaLaunchKernel", 8 * kUs, 2 * kUs, 3).gpu("after", 21 * kUs, 10 * kUs, 3, 7);
  maker.call("cudaLaunchKernel", 10 * kUs, 1 * kUs, 4).gpu("first", 14 * kUs, 2 * kUs, 4, 8);
  maker.call("cudaStreamWaitEvent", 12 * kUs, 1 * kUs, 5);
  maker.gpu("Stream Wait Event", 12 * kUs, 1 * kUs, 5, 8, SpanKind::sync)
      .with_args(R"({"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2})");
  maker.call("cudaLaunchKernel", 14 * kUs, 2 * kUs, 6).gpu("waiter", 40 * kUs, 5 * kUs, 6, 8);
  EXPECT_EQ(gpu_waits_of(maker.make()), (Waits{{"waiter", "before"}}));
}

TEST(Dependencies, TheBackwardPassIsHandedOverAndBack) {
  TraceMaker maker;
  maker.op("forward", 0, 100 * kUs, 1).call("cudaLaunchKernel", 10 * kUs, 5 * kUs, 1, 1);
  maker.gpu("f", 20 * kUs, 10 * kUs, 1);
  maker.op("backward", 120 * kUs, 400 * kUs, 2).call("cudaLaunchKernel", 130 * kUs, 5 * kUs, 2, 2);
  maker.gpu("b", 140 * kUs, 10 * kUs, 2);
  maker.op("optimizer", 530 * kUs, 100 * kUs, 1);
  const Dependencies found = dependencies(maker.make());
  ASSERT_EQ(found.hand_overs.size(), 2U);
  EXPECT_EQ(found.hand_overs[0].time_ns, 530 * kUs);
  EXPECT_EQ(found.hand_overs[0].from_time_ns, 520 * kUs);
  EXPECT_EQ(found.hand_overs[1].time_ns, 120 * kUs);
  EXPECT_EQ(found.hand_overs[1].from_time_ns, 100 * kUs);
}

TEST(RuntimeCalls, AreRecognisedByNameWhateverTheRuntime) {
  EXPECT_EQ(call_role("cudaLaunchKernelExC"), CallRole::launch);
  EXPECT_EQ(call_role("cuLaunchKernel"), CallRole::launch);
  EXPECT_EQ(call_role("hipExtModuleLaunchKernel"), CallRole::launch);
  EXPECT_EQ(call_role("clEnqueueNDRangeKernel"), CallRole::launch);
  EXPECT_EQ(call_role("cudaGraphLaunch"), CallRole::launch);
  EXPECT_EQ(call_role("hipMemcpyWithStream"), CallRole::copy);
  EXPECT_EQ(call_role("clEnqueueReadBuffer"), CallRole::copy);
  EXPECT_EQ(call_role("cuMemcpyDtoH_v2"), CallRole::copy);
  EXPECT_EQ(call_role("cuMemFree_v2"), CallRole::free);
  EXPECT_EQ(call_role("cudaFreeAsync"), CallRole::other);
  EXPECT_EQ(call_role("cudaStreamWaitEvent"), CallRole::stream_waits);
  EXPECT_EQ(call_role("clFinish"), CallRole::stream_sync);
  EXPECT_EQ(call_role("hipEventSynchronize"), CallRole::event_sync);
  EXPECT_EQ(call_role("cuCtxSynchronize"), CallRole::device_sync);
  EXPECT_EQ(call_role("aten::copy_"), CallRole::other);
  EXPECT_EQ(call_role(""), CallRole::other);
}

}  // namespace fathom::analyze::dependencies_test
