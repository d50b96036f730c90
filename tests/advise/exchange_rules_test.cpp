#include <gtest/gtest.h>

#include "advise/gpu_bound.h"
#include "analyze/efficiency/collectives.h"
#include "analyze/hta/gpu_work.h"

// Rules about what moves: between GPUs, and between host and GPU.
namespace fathom::advise::exchange_rules_test {

using analyze::CollectiveWork;
using analyze::Exchange;
using trace::Trace;

const std::string kA100 = "NVIDIA A100-SXM4-80GB";
const std::string kGemm = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n";
const std::string kReduce = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096>)";

std::string args_of(const std::string& collective, std::int64_t elements, int ranks,
                    const std::string& type = "BFloat16") {
  return "{\"Collective name\": \"" + collective +
         "\", \"In msg nelems\": " + std::to_string(elements) +
         ", \"Out msg nelems\": " + std::to_string(elements) +
         ", \"Group size\": " + std::to_string(ranks) + ", \"dtype\": \"" + type + "\"}";
}

TEST(ExchangeRules, WhatACollectiveIsComesFromItsArgumentsThenAnnotationThenName) {
  GpuBound program;
  program.kernel(kReduce, kMilli, args_of("allreduce", 1000, 8));
  program.begin("c10d::alltoall_base_").begin("nccl:all_to_all", trace::SpanKind::annotation);
  program.kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork*)", kMilli).end().end();
  program.kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWork*)", kMilli);
  program.kernel(kReduce, kMilli);
  const Trace trace = program.make();
  const std::vector<CollectiveWork> found = collectives_of(trace, analyze::gpu_work(trace));
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].exchange, Exchange::all_reduce);
  EXPECT_EQ(found[0].bytes, 2000);
  EXPECT_EQ(found[0].ranks, 8);
  EXPECT_EQ(found[1].exchange, Exchange::all_to_all);
  EXPECT_FALSE(found[1].bytes);
  EXPECT_EQ(found[2].exchange, Exchange::all_reduce);
  EXPECT_EQ(found[3].exchange, Exchange::other);
  EXPECT_EQ(found[3].alone_ns, kMilli);
}

// Five steps with so many all-reduces between products.
Trace reduces(int per_step, std::int64_t duration) {
  GpuBound program;
  for (int step = 0; step < 5; ++step) {
    program.begin("ProfilerStep#" + std::to_string(step), trace::SpanKind::annotation);
    for (int i = 0; i < per_step; ++i) {
      program.run("aten::mm", kGemm, 200 * kMicro);
      program.begin("c10d::allreduce_");
      program.kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWork*)", duration).end();
    }
    program.end();
  }
  return program.make(kA100);
}

TEST(ExchangeRules, ManyTinyAllReducesBelongIntoBuckets) {
  const Suggestions found = suggest(reduces(100, 40 * kMicro), true);
  const Suggestion* one = found_by_rule(found, "buckets");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_TRUE(says(one, "500 all-reduces (100 per step)")) << one->description;
  EXPECT_TRUE(says(one, "bucket_cap_mb"));
  // Nine in ten go with their latency, which is all of them here; seven tenths of the others hide.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 450 * 41e3 + 50 * 28e3, 0.5e6);
  EXPECT_EQ(found_by_rule(found, "overlap"), nullptr) << "the same time, said twice";
}

TEST(ExchangeRules, FewOrLongAllReducesNeedNoBuckets) {
  EXPECT_EQ(found_by_rule(suggest(reduces(15, 40 * kMicro), true), "buckets"), nullptr);
  EXPECT_EQ(found_by_rule(suggest(reduces(30, 400 * kMicro), true), "buckets"), nullptr);
  EXPECT_NE(found_by_rule(suggest(reduces(30, 400 * kMicro), true), "overlap"), nullptr);
}

TEST(ExchangeRules, WhatIsExchangedAfterTheBackwardPassHasNothingToHideBehind) {
  GpuBound program;
  for (int step = 0; step < 5; ++step) {
    program.begin("DistributedDataParallel.forward", trace::SpanKind::annotation);
    program.run("aten::mm", kGemm, 8 * kMilli).end();
    program.kernel(kReduce, 4 * kMilli, args_of("allreduce", 1'000'000, 16));
    program.begin("Optimizer.step#SGD.step", trace::SpanKind::annotation);
    program.run("aten::add_", "multi_tensor_apply_kernel", kMilli).end();
  }
  const Suggestions found = suggest(program.make(kA100));
  const Suggestion* one = found_by_rule(found, "overlap");
  ASSERT_NE(one, nullptr);
  EXPECT_TRUE(says(one, "all-reduces after the backward pass")) << one->description;
  EXPECT_TRUE(says(one, "no_sync()"));
  EXPECT_FALSE(says(one, "all_to_all"));
}

// Layers whose parameters are gathered before each, under an annotation of PyTorch's.
Suggestions sharded(const std::string& annotation) {
  GpuBound program;
  for (int layer = 0; layer < 40; ++layer) {
    program.begin(annotation, trace::SpanKind::annotation);
    program.kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kMilli,
                   args_of("_allgather_base", 50'000'000, 16));
    program.end();
    program.run("aten::mm", kGemm, 2 * kMilli);
  }
  return suggest(program.make(kA100));
}

TEST(ExchangeRules, ShardedParametersAreToBeGatheredAhead) {
  const Suggestions function = sharded("FSDP::pre_forward (layers.1)");
  const Suggestion* one = found_by_rule(function, "overlap");
  ASSERT_NE(one, nullptr) << all_words(function);
  EXPECT_TRUE(says(one, "mostly in all-gathers")) << one->description;
  EXPECT_TRUE(says(one, "layer.set_modules_to_forward_prefetch([after])"));
  EXPECT_FALSE(says(one, "DistributedDataParallel"));
  EXPECT_FALSE(says(one, "async_op"));

  const Suggestions wrapper = sharded("FullyShardedDataParallel._pre_forward");
  EXPECT_TRUE(says(found_by_rule(wrapper, "overlap"), "forward_prefetch=True"));

  const Suggestions other = sharded("my gather");
  EXPECT_TRUE(says(found_by_rule(other, "overlap"), "dist.all_gather_into_tensor(out, data"));
}

// Steps with one all-reduce of 17.6 MB each that takes as long as given.
Trace exchanges(const std::vector<std::int64_t>& durations, int ranks,
                std::int64_t elements = 8'816'192) {
  GpuBound program;
  program.kernel(kReduce, kMilli, args_of("allreduce", 1, ranks));
  for (const std::int64_t duration : durations) {
    program.run("aten::mm", kGemm, 5 * kMilli);
    program.kernel(kReduce, duration, args_of("allreduce", elements, ranks));
  }
  return program.make(kA100);
}

TEST(ExchangeRules, SteadyExchangesFarBelowTheLinkAreASlowLink) {
  const Suggestions found =
      suggest(exchanges({9'000'000, 9'100'000, 8'900'000, 9'000'000}, 8), true);
  const Suggestion* one = found_by_rule(found, "link");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_EQ(found.list.front().rule, "link");
  // 17.6 MB · 2 · 7/8 at 70 % of 300 GB/s: 0.15 of 9 ms stay.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 4 * 8.85e6, 0.2e6);
  EXPECT_TRUE(says(one, "3.4 GB/s on the bus")) << one->description;
  EXPECT_TRUE(says(one, "NCCL_DEBUG=INFO"));
  EXPECT_EQ(found_by_rule(found, "late_rank"), nullptr);
}

// The user knows that these GPUs are connected by PCIe alone.
TEST(ExchangeRules, AGivenLinkReachesTheAdvice) {
  const Trace trace = exchanges({9'000'000, 9'100'000, 8'900'000, 9'000'000}, 8);
  const auto found = [&](const std::string& peaks) {
    return suggest(trace, true, {}, analyze::parse_peaks(peaks));
  };
  EXPECT_TRUE(says(found_by_rule(found("link=32"), "link"), "of the 16 GB/s that their links"));
  EXPECT_EQ(found_by_rule(found("link=10"), "link"), nullptr) << "3.4 of 5 GB/s are fine";
}

TEST(ExchangeRules, ALinkIsNotJudgedByWhatVariesIsFastSmallOrLeavesTheMachine) {
  const auto found = [](const Trace& trace) {
    return found_by_rule(suggest(trace, true), "link") != nullptr;
  };
  EXPECT_FALSE(found(exchanges({5'000'000, 9'100'000, 8'900'000, 9'000'000}, 8)));
  EXPECT_FALSE(found(exchanges({200'000, 200'000, 200'000, 200'000}, 8)));
  EXPECT_FALSE(found(exchanges({9'000'000, 9'000'000, 9'000'000, 9'000'000}, 16)));
  EXPECT_FALSE(found(exchanges({9'000'000, 9'000'000, 9'000'000, 9'000'000}, 8, 1'000'000)));
}

TEST(ExchangeRules, TheSameExchangeTakingTwiceAsLongWaitsForARank) {
  const Suggestions found =
      suggest(exchanges({3'000'000, 9'000'000, 3'000'000, 6'000'000}, 16), true);
  const Suggestion* one = found_by_rule(found, "late_rank");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 9e6, 0.1e6);
  EXPECT_NEAR(static_cast<double>(one->gain->low_ns), 4.5e6, 0.1e6);
  EXPECT_TRUE(says(one, "An all-reduce of 16.8 MB took between 3.0 ms and 9.0 ms"))
      << one->description;
  EXPECT_TRUE(says(one, "fathom hta"));
}

TEST(ExchangeRules, ASmallerExchangeTakingLongerWaitsForARank) {
  GpuBound program;
  program.kernel(kReduce, kMilli, args_of("broadcast", 1, 16));
  for (int step = 0; step < 4; ++step) {
    program.run("aten::mm", kGemm, 5 * kMilli);
    program.kernel(kReduce, 3'300'000, args_of("allreduce", 2'049'000, 16, "Float"));
    program.kernel(kReduce, 2'700'000, args_of("allreduce", 7'875'584, 16, "Float"));
  }
  const Suggestions found = suggest(program.make(kA100), true);
  const Suggestion* one = found_by_rule(found, "late_rank");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 4 * 0.6e6, 0.1e6);
}

TEST(ExchangeRules, SteadyTimesAndTheFirstExchangeAreNoProofOfALateRank) {
  EXPECT_EQ(
      found_by_rule(suggest(exchanges({9'000'000, 9'300'000, 8'900'000, 9'000'000}, 16), true),
                    "late_rank"),
      nullptr);
  GpuBound program;  // the others begin late
  program.kernel(kReduce, 30 * kMilli, args_of("allreduce", 8'000'000, 16));
  for (int step = 0; step < 4; ++step) {
    program.run("aten::mm", kGemm, 5 * kMilli);
    program.kernel(kReduce, 3 * kMilli, args_of("allreduce", 8'000'000, 16));
  }
  EXPECT_EQ(found_by_rule(suggest(program.make(kA100), true), "late_rank"), nullptr);
}

Trace data_parallel(std::optional<std::int64_t> world_size) {
  GpuBound program;
  for (int step = 0; step < 5; ++step) {
    program.begin("DistributedDataParallel.forward", trace::SpanKind::annotation);
    for (int i = 0; i < 50; ++i) {
      program.copy("Memcpy DtoD (Device -> Device)", 10 * kMicro, 4096);
    }
    program.begin("c10d::broadcast_");
    program.kernel(kReduce, 200 * kMicro, args_of("broadcast", 9600, 8)).end();
    program.run("aten::mm", kGemm, 8 * kMilli);
    program.begin("aten::clone").copy("Memcpy DtoD (Device -> Device)", kMilli, 4'000'000).end();
    program.end();
    program.begin("torch::distributed::reducer::mul_out");
    program.run("aten::mul", "mul", 300 * kMicro).end();
  }
  trace::RunInfo run;
  run.world_size = world_size;
  return program.make(kA100, run);
}

TEST(ExchangeRules, BuffersThatAreSentInEveryForwardPassCanStay) {
  const Suggestions found = suggest(data_parallel(8), true);
  const Suggestion* one = found_by_rule(found, "ddp");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_TRUE(says(one, "broadcast_buffers=False"));
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 5 * (51 * 1e3 + 0.7e6), 0.1e6);
}

TEST(ExchangeRules, OneRankNeedsNoDistributedDataParallel) {
  const Suggestions found = suggest(data_parallel(1), true);
  const Suggestion* one = found_by_rule(found, "ddp");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_TRUE(says(one, "there is one rank"));
  EXPECT_FALSE(says(one, "broadcast_buffers"));
  // The copies of the model's own modules are none of it.
  EXPECT_LT(one->gain->mid_ns, 6 * kMilli);
}

// Layers whose weights come from the host each time: 10 ms of copy for 0.2 ms of compute.
Trace streamed(bool sizes_repeat, const std::string& product) {
  GpuBound program;
  for (int layer = 0; layer < 30; ++layer) {
    const std::int64_t bytes = 250'000'000 + (sizes_repeat ? layer % 3 : layer);
    program.copy("Memcpy HtoD (Pinned -> Device)", 10 * kMilli, bytes);
    program.copy("Memcpy DtoD (Device -> Device)", 200 * kMicro, bytes);
    program.run("aten::mm", product, 200 * kMicro);
  }
  return program.make("NVIDIA H100 80GB HBM3");
}

TEST(ExchangeRules, WeightsThatAreStreamedInShouldStayOrBeNarrower) {
  const std::string fp32 = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_ffma_aligna4";
  const Suggestions found = suggest(streamed(true, fp32), true);
  const Suggestion* one = found_by_rule(found, "streaming");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 30 * 5.1e6, 0.2e6);
  EXPECT_NEAR(static_cast<double>(one->gain->high_ns), 30 * 10.2e6, 0.4e6);
  EXPECT_TRUE(says(one, "16 bits"));
  EXPECT_TRUE(says(one, "7.5 GB to the GPU at 25.0 GB/s")) << one->description;
  EXPECT_EQ(found_by_rule(found, "copies"), nullptr);
  EXPECT_FALSE(says(found_by_rule(suggest(streamed(true, kGemm)), "streaming"), "16 bits"));
}

TEST(ExchangeRules, CopiesThatAreAllDifferentAreNoWeights) {
  const Suggestions found = suggest(streamed(false, kGemm), true);
  EXPECT_EQ(found_by_rule(found, "streaming"), nullptr);
  EXPECT_TRUE(says(found_by_rule(found, "copies"), "while the GPU computes"));
}

// Batches that are copied while their call waits, which takes so many times as long as the copy.
Trace batches(const std::string& copy, std::int64_t bytes, std::int64_t call_times) {
  analyze::TraceMaker maker;
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t call = call_times * 500 * kMicro;
    maker.call("cudaLaunchKernel", now, 5 * kMicro, 2 * i + 1);
    maker.gpu(kGemm, now + 9 * kMicro, std::max<std::int64_t>(kMicro, call - 520 * kMicro),
              2 * i + 1);
    maker.call("cudaMemcpyAsync", now + 6 * kMicro, call, 2 * i + 2);
    maker.gpu(copy, now + call - 500 * kMicro, 500 * kMicro, 2 * i + 2, 7, trace::SpanKind::copy);
    maker.bytes(bytes);
    maker.op("prepare", now + call + 10 * kMicro, 500 * kMicro);
    now += call + 520 * kMicro;
  }
  return maker.make();
}

TEST(ExchangeRules, LargeBatchesFromPageableMemoryAreToBePinned) {
  const std::string pageable = "Memcpy HtoD (Pageable -> Device)";
  const auto found = [](const Trace& trace) {
    return says(found_by_rule(suggest(trace, true), "copies"), "Copy from pinned memory");
  };
  EXPECT_TRUE(found(batches(pageable, 2'000'000, 1)));
  EXPECT_FALSE(found(batches(pageable, 704, 1))) << "too small to matter";
  EXPECT_FALSE(found(batches(pageable, 2'000'000, 30))) << "it waits for other work";
  EXPECT_FALSE(found(batches("Memcpy HtoD (Pinned -> Device)", 2'000'000, 1)));
}

// Results are waited for, and pinned memory does not change that; it only copies faster.
TEST(ExchangeRules, OfResultsPinnedMemorySavesNoMoreThanTheirCopies) {
  const auto words = [](const std::string& copy, std::int64_t bytes) {
    const Suggestions found = suggest(batches(copy, bytes, 1), true);
    std::string text;
    for (const Suggestion& one : found.list) {
      if (one.rule == "copies") text += words_of(one);
    }
    return text;
  };
  EXPECT_EQ(words("Memcpy DtoH (Device -> Unknown)", 2'000'000), "") << "waiting is no reason";
  const std::string pageable = words("Memcpy DtoH (Device -> Pageable)", 2'000'000);
  EXPECT_TRUE(has(pageable, "into pinned memory")) << pageable;
  EXPECT_FALSE(has(pageable, "pin_memory=True)\n") || has(pageable, "waited for them")) << pageable;
}

}  // namespace fathom::advise::exchange_rules_test
