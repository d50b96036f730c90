#include <gtest/gtest.h>

#include "advise/gpu_bound.h"

// Rules about what the GPU computes: what sets each off, what does not, and what it is worth.
namespace fathom::advise::compute_rules_test {

using trace::Trace;

const std::string kH100 = "NVIDIA H100 80GB HBM3";
const std::string kV100 = "Tesla V100-SXM2-16GB";
const std::string kA100 = "NVIDIA A100-SXM4-40GB";
const std::string kGemm = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64";
const std::string kPointwise = "void at::native::vectorized_elementwise_kernel<4, Mul>(int, Mul)";
const std::string kSoftmax = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>(int)";

// Twelve layers whose attention writes out scores of 8x12xQxQ, 11 ms each, beside 3 ms of others.
Trace written_out(std::int64_t queries, const std::string& around = "") {
  GpuBound program;
  const std::string q = std::to_string(queries);
  for (int layer = 0; layer < 12; ++layer) {
    program.run("aten::mm", kGemm, 3 * kMilli);
    if (!around.empty()) program.begin(around);
    program.run("aten::bmm", "gemm_bf16", 2 * kMilli, "[96, " + q + ", 64], [96, 64, " + q + "]");
    program.run("aten::mul", kPointwise, kMilli, "[8, 12, " + q + ", " + q + "]");
    program.run("aten::_softmax", kSoftmax, 6 * kMilli, "[8, 12, " + q + ", " + q + "]");
    program.run("aten::bmm", "gemm_bf16", 2 * kMilli,
                "[96, " + q + ", " + q + "], [96, " + q + ", 64]");
    if (!around.empty()) program.end();
  }
  return program.make(kH100);
}

TEST(ComputeRules, AttentionThatWritesOutItsScoresIsToBeFused) {
  const Suggestions found = suggest(written_out(3137));
  const Suggestion* one = found_by_rule(found, "attention");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  // 4·96·3137²·64 operations per layer, at 35 % of 989.4 TFLOP/s: 0.70 of 11 ms stay.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 12 * 10.30e6, 0.1e6);
  EXPECT_EQ(found.list.front().rule, "attention");
  EXPECT_TRUE(says(one, "scaled_dot_product_attention"));
  EXPECT_TRUE(says(one, "3,137 is not a multiple of 8")) << one->description;
}

// Products of 4096³ in 16 bits: 138.9 µs at the peak of an H100.
TEST(ComputeRules, AKernelThatRunsAsWellAsCanBeExpectedIsNotToBeOptimised) {
  const auto dominant = [](std::int64_t duration, bool has_shapes) {
    GpuBound program;
    for (int i = 0; i < 200; ++i) {
      program.run("aten::mm", kGemm, duration, has_shapes ? "[4096, 4096], [4096, 4096]" : "");
    }
    const Suggestions found = suggest(program.make(kH100), true);
    const Suggestion* one = found_by_rule(found, "dominant");
    return one == nullptr ? std::string() : one->description;
  };
  EXPECT_EQ(dominant(215 * kMicro, true), "");  // 64.6 %
  EXPECT_TRUE(has(dominant(400 * kMicro, true), "at 34.7 % of the peak."));
  EXPECT_TRUE(has(dominant(215 * kMicro, false), "of all GPU time"));
}

// A softmax of 8x12x1024x1024 in 16 bits reads and writes 403 MB: 120.2 µs at the 3,350 GB/s of an
// H100, whatever its shape.
std::string dominant_softmax(std::int64_t duration, const std::string& device,
                             const std::string& peaks = "") {
  GpuBound program;
  for (int i = 0; i < 200; ++i) {
    program.run("aten::_softmax", kSoftmax, duration, "[8, 12, 1024, 1024]");
  }
  const Suggestions found = suggest(program.make(device), true, {}, analyze::parse_peaks(peaks));
  const Suggestion* one = found_by_rule(found, "dominant");
  return one == nullptr ? std::string() : one->description;
}

TEST(ComputeRules, AKernelThatUsesTheMemoryWellIsNotToBeOptimised) {
  EXPECT_EQ(dominant_softmax(141 * kMicro, kH100), "");  // 85 %
  EXPECT_TRUE(has(dominant_softmax(240 * kMicro, kH100), "at 50.1 % of the memory bandwidth."));
}

// A device that the table does not know, and one of which the user knows better.
TEST(ComputeRules, GivenPeaksReachTheAdvice) {
  EXPECT_TRUE(has(dominant_softmax(141 * kMicro, "NVIDIA H100 NVL"), "of all GPU time"));
  EXPECT_EQ(dominant_softmax(141 * kMicro, "NVIDIA H100 NVL", "gbps=3350"), "");
  EXPECT_TRUE(has(dominant_softmax(141 * kMicro, kH100, "gbps=6000"),
                  "at 47.6 % of the memory bandwidth."));
}

TEST(ComputeRules, WhatShouldUseTensorCoresIsNotToBeOptimisedAsItIs) {
  GpuBound program;
  for (int i = 0; i < 50; ++i) program.run("aten::mm", "ampere_sgemm_128x128_tn", kMilli);
  const Suggestions found = suggest(program.make(kA100), true);
  EXPECT_NE(found_by_rule(found, "precision"), nullptr);
  EXPECT_EQ(found_by_rule(found, "dominant"), nullptr) << all_words(found);
}

TEST(ComputeRules, AttentionOfFewQueriesIsFineAsItIs) {
  EXPECT_EQ(found_by_rule(suggest(written_out(64), true), "attention"), nullptr);
}

TEST(ComputeRules, ASoftmaxWithoutProductsIsNoAttention) {
  GpuBound program;
  for (int i = 0; i < 20; ++i) {
    program.run("aten::mm", kGemm, kMilli, "[512, 512], [512, 512]");
    program.run("aten::_softmax", kSoftmax, kMilli, "[8, 12, 512, 512]");
  }
  EXPECT_EQ(found_by_rule(suggest(program.make(kH100), true), "attention"), nullptr);
}

// In FP32 a fused kernel is measured by the peak that it computes at, and the words say which.
TEST(ComputeRules, FusedAttentionInFp32IsMeasuredByItsOwnPeak) {
  const auto supposes = [](const std::string& product_kernel) {
    GpuBound program;
    for (int layer = 0; layer < 12; ++layer) {
      program.run("aten::mm", kGemm, 3 * kMilli);
      program.run("aten::bmm", product_kernel, 10 * kMilli, "[96, 1024, 64], [96, 64, 1024]",
                  "float");
      program.run("aten::_softmax", kSoftmax, 30 * kMilli, "[8, 12, 1024, 1024]", "float");
      program.run("aten::bmm", product_kernel, 10 * kMilli, "[96, 1024, 1024], [96, 1024, 64]",
                  "float");
    }
    const Suggestions found = suggest(program.make(kA100));
    const Suggestion* one = found_by_rule(found, "attention");
    return one == nullptr ? std::string() : one->expected_improvement;
  };
  EXPECT_TRUE(has(supposes("ampere_sgemm_128x128_tn"), "35 % of the FP32 peak"));
  EXPECT_TRUE(has(supposes("cutlass_80_tensorop_s1688gemm_128x128_16x5_tn_align4"),
                  "35 % of the tensor cores' peak"));
}

TEST(ComputeRules, AttentionThatFellBackIsToldWhatAFusedKernelNeeds) {
  const Suggestions found = suggest(written_out(1024, "aten::_scaled_dot_product_attention_math"));
  const Suggestion* one = found_by_rule(found, "attention");
  ASSERT_NE(one, nullptr);
  EXPECT_TRUE(says(one, "falls back"));
  EXPECT_TRUE(says(one, "no dense mask"));
  EXPECT_FALSE(says(one, "instead of softmax"));
}

TEST(ComputeRules, TheBackwardPassOfAttentionCountsToo) {
  GpuBound program;
  for (int layer = 0; layer < 12; ++layer) {
    program.run("aten::mm", kGemm, 3 * kMilli);
    program.run("aten::bmm", "gemm_bf16", kMilli, "[96, 1024, 1024], [96, 1024, 64]");
    program.run("aten::bmm", "gemm_bf16", kMilli, "[96, 1024, 64], [96, 64, 1024]");
    program.run("aten::_softmax_backward_data", kSoftmax, 4 * kMilli,
                "[8, 12, 1024, 1024], [8, 12, 1024, 1024]");
    program.run("aten::bmm", "gemm_bf16", kMilli, "[96, 64, 1024], [96, 1024, 1024]");
    program.run("aten::bmm", "gemm_bf16", kMilli, "[96, 1024, 1024], [96, 1024, 64]");
  }
  const Suggestions found = suggest(program.make(kH100));
  const Suggestion* one = found_by_rule(found, "attention");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  // Four products and one that is made again: 10·96·1024²·64 operations at 35 %: 0.19 of 8 ms stay.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 12 * 7.81e6, 0.1e6);
}

Trace chains(std::size_t length, const std::string& around = "") {
  GpuBound program;
  for (int i = 0; i < 40; ++i) {
    program.run("aten::mm", kGemm, kMilli);
    if (!around.empty()) program.begin(around);
    for (std::size_t link = 0; link < length; ++link) {
      program.run("aten::mul", kPointwise, 300 * kMicro);
    }
    if (!around.empty()) program.end();
  }
  return program.make(kH100);
}

TEST(ComputeRules, ChainsOfPointwiseKernelsAreToBeFused) {
  const Suggestions found = suggest(chains(4));
  const Suggestion* one = found_by_rule(found, "pointwise");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 40 * 4 * 0.2e6, 0.2e6);
  EXPECT_NEAR(static_cast<double>(one->gain->low_ns), 40 * 4 * 0.15e6, 0.2e6);
  EXPECT_NEAR(static_cast<double>(one->gain->high_ns), 40 * 4 * 0.24e6, 0.2e6);
  EXPECT_TRUE(says(one, "torch.compile(model)"));
}

TEST(ComputeRules, TwoInARowAreNoChainAndWhatIsCompiledStaysSo) {
  EXPECT_EQ(found_by_rule(suggest(chains(2), true), "pointwise"), nullptr);
  EXPECT_EQ(found_by_rule(suggest(chains(4, "CompiledFunction"), true), "pointwise"), nullptr);
  EXPECT_EQ(found_by_rule(suggest(chains(4, "Optimizer.step#SGD.step"), true), "pointwise"),
            nullptr);
}

Trace products(const std::string& kernel, const std::string& device,
               const std::string& other = kGemm, const std::string& operation = "aten::mm") {
  GpuBound program;
  for (int i = 0; i < 20; ++i) {
    program.run(operation, kernel, kMilli, "[4096, 2798], [2798, 512]");
    program.run("aten::mm", other, kMilli);
  }
  return program.make(device);
}

TEST(ComputeRules, PlainFp32ProductsAreForTensorCores) {
  for (const char* kernel :
       {"volta_sgemm_128x64_nt", "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_stage3_ffma_aligna4"}) {
    const Suggestions found = suggest(products(kernel, kA100));
    const Suggestion* one = found_by_rule(found, "precision");
    ASSERT_TRUE(one != nullptr && one->gain) << kernel;
    EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 10e6, 0.2e6);
    EXPECT_TRUE(says(one, "set_float32_matmul_precision"));
  }
}

// A product of 32 rows reads 67 MB of weights: 44 µs of its 50 on an A100, whatever it computes in.
TEST(ComputeRules, TensorCoresDoNotReadFaster) {
  GpuBound program;
  for (int i = 0; i < 200; ++i) {
    program.run("aten::mm", "ampere_sgemm_32x128_tn", 50 * kMicro, "[32, 4096], [4096, 4096]",
                "float");
  }
  const Suggestions found = suggest(program.make(kA100), true);
  const Suggestion* one = found_by_rule(found, "precision");
  ASSERT_TRUE(one != nullptr && one->gain) << all_words(found);
  EXPECT_NEAR(static_cast<double>(one->gain->high_ns), 200 * 6.1e3, 200 * 0.3e3);
  EXPECT_EQ(one->gain->mid_ns, one->gain->high_ns);
}

TEST(ComputeRules, ConvolutionsUseTf32ByDefaultWhereThereIsTf32) {
  const std::string kernel = "cudnn_infer_ampere_scudnn_128x64_relu_medium_nn_v1";
  const auto found = [&](const std::string& device) {
    return found_by_rule(suggest(products(kernel, device, kGemm, "aten::cudnn_convolution"), true),
                         "precision") != nullptr;
  };
  EXPECT_TRUE(found(kV100));
  EXPECT_FALSE(found(kA100));
}

TEST(ComputeRules, WhereTf32IsUsedAlreadyItIsNotSuggested) {
  const std::string tf32 = "cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align4";
  EXPECT_EQ(
      found_by_rule(suggest(products("ampere_sgemm_128x64_nn", kA100, tf32), true), "precision"),
      nullptr);
}

TEST(ComputeRules, ProductsThatAreNotAlignedAreToBePadded) {
  const Suggestions found =
      suggest(products("cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1", kA100));
  const Suggestion* one = found_by_rule(found, "alignment");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 20 * 0.6e6, 0.2e6);
  EXPECT_EQ(one->title, "Pad matrix sizes to a multiple of 4");
  EXPECT_TRUE(says(one, "2,798 to 2,800 (100.0 %)")) << one->implementation_hint;
  const Suggestions narrow =
      suggest(products("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1", kH100));
  EXPECT_TRUE(says(found_by_rule(narrow, "alignment"), "multiple of 8"));
}

// Kernels that do not say whether their operands are aligned are judged by their shapes and speed.
TEST(ComputeRules, OddSizesOfSlowProductsAreToBePadded) {
  const auto hint = [](const std::string& shape, std::int64_t duration) {
    GpuBound program;
    for (int i = 0; i < 50; ++i) {
      program.run("aten::mm", "nvjet_tst_192x192_64x4_2x1_v_bz_coopA_NNT", duration, shape);
      program.run("aten::relu", kPointwise, kMilli);
    }
    const Suggestions found = suggest(program.make(kH100), true);
    const Suggestion* one = found_by_rule(found, "alignment");
    return one == nullptr ? std::string() : words_of(*one);
  };
  const std::string odd = hint("[4096, 2798], [2798, 512]", kMilli);
  EXPECT_TRUE(has(odd, "2,798 to 2,800") && has(odd, "a multiple of 8")) << odd;
  EXPECT_EQ(hint("[4096, 2800], [2800, 512]", kMilli), "");
  EXPECT_EQ(hint("[4095, 2800], [2800, 512]", kMilli), "") << "rows are not loaded side by side";
  EXPECT_EQ(hint("[4096, 2798], [2798, 512]", 15 * kMicro), "") << "fast as it is";
}

// A fused kernel does without the products whose sizes are odd.
TEST(ComputeRules, ProductsOfAttentionThatIsToBeFusedAreNotToBePadded) {
  const auto rules = [](const std::string& softmax) {
    GpuBound program;
    const std::string product = "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1";
    for (int layer = 0; layer < 12; ++layer) {
      program.run("aten::mm", kGemm, 3 * kMilli);
      program.run("aten::bmm", product, 2 * kMilli, "[96, 3137, 64], [96, 64, 3137]");
      program.run(softmax, kSoftmax, 6 * kMilli, "[8, 12, 3137, 3137]");
      program.run("aten::bmm", product, 2 * kMilli, "[96, 3137, 3137], [96, 3137, 64]");
    }
    const Suggestions found = suggest(program.make(kH100), true);
    return std::pair(found_by_rule(found, "attention") != nullptr,
                     found_by_rule(found, "alignment") != nullptr);
  };
  EXPECT_EQ(rules("aten::_softmax"), std::pair(true, false));
  EXPECT_EQ(rules("aten::relu"), std::pair(false, true));
}

TEST(ComputeRules, OnlyTensorCoresCareForAlignment) {
  for (const char* kernel : {"cutlass_80_simt_sgemm_128x32_8x5_nn_align1",
                             "cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4",
                             "cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_nn_align16"}) {
    EXPECT_EQ(found_by_rule(suggest(products(kernel, kA100), true), "alignment"), nullptr)
        << kernel;
  }
}

Trace convolutions(const std::string& turn, const std::string& strides) {
  GpuBound program;
  for (int i = 0; i < 20; ++i) {
    program.begin("aten::miopen_convolution");
    program.kernel(turn, 200 * kMicro);
    program.kernel("igemm_fwd_gtcx3_nhwc_bf16", kMilli);
    program.end();
    program.run_with("aten::cudnn_convolution",
                     "{\"Input Strides\": [" + strides + ", [2304, 9, 3, 1]]}", turn, 200 * kMicro);
  }
  return program.make(kA100);
}

TEST(ComputeRules, TensorsThatAreTurnedAroundForConvolutionsShouldStayChannelsLast) {
  for (const char* turn :
       {"void cudnn::ops::nchwToNhwcKernel<float, float>(int)", "batched_transpose_16x32_half"}) {
    const Suggestions found = suggest(convolutions(turn, "[50176, 196, 14, 1]"));
    const Suggestion* one = found_by_rule(found, "layout");
    ASSERT_TRUE(one != nullptr && one->gain) << turn;
    EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 20 * 0.4e6, 0.2e6);
    EXPECT_TRUE(says(one, "channels_last"));
  }
}

TEST(ComputeRules, WhatIsChannelsLastAlreadyIsNotToldSo) {
  GpuBound program;
  for (int i = 0; i < 20; ++i) {
    program.run_with("aten::cudnn_convolution",
                     "{\"Input Strides\": [[50176, 1, 3584, 256], [2304, 1, 768, 256]]}",
                     "batched_transpose_16x32_half", 200 * kMicro);
    program.run("aten::cudnn_convolution", "igemm_fwd", kMilli);
  }
  EXPECT_EQ(found_by_rule(suggest(program.make(kA100), true), "layout"), nullptr);
}

Trace optimizer_steps(std::size_t kernels, const std::string& kernel) {
  GpuBound program;
  for (int step = 0; step < 5; ++step) {
    program.run("aten::mm", kGemm, 10 * kMilli);
    program.begin("Optimizer.step#SGD.step", trace::SpanKind::annotation);
    for (std::size_t i = 0; i < kernels; ++i) program.run("aten::add_", kernel, 30 * kMicro);
    program.end();
  }
  return program.make(kA100);
}

TEST(ComputeRules, AnOptimizerThatGoesParameterByParameterIsToBeFused) {
  const Suggestions found = suggest(optimizer_steps(200, kPointwise));
  const Suggestion* one = found_by_rule(found, "optimizer");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_GE(one->gain->mid_ns, static_cast<std::int64_t>(5 * 200 * 0.019e6));
  EXPECT_TRUE(says(one, "torch.optim.SGD(parameters, lr, fused=True)"));
  EXPECT_TRUE(says(one, "200 kernels"));
}

TEST(ComputeRules, OneThatIsFusedOrSmallIsFine) {
  const std::string fused =
      "void at::native::multi_tensor_apply_kernel<TensorListMetadata<3>, BinaryOp>(int)";
  EXPECT_EQ(found_by_rule(suggest(optimizer_steps(200, fused), true), "optimizer"), nullptr);
  EXPECT_EQ(found_by_rule(suggest(optimizer_steps(40, kPointwise), true), "optimizer"), nullptr);
}

Trace checkpointed(std::optional<std::int64_t> memory_in_use) {
  GpuBound program;
  for (int layer = 0; layer < 10; ++layer) {
    program.begin("autograd::engine::evaluate_function: ReluBackward0");
    program.begin("ReluBackward0");
    program.begin("aten::conv2d").run("aten::cudnn_convolution", "fprop", kMilli).end();
    program.run("aten::add_", kPointwise, 500 * kMicro);
    program.run("aten::threshold_backward", kPointwise, kMilli);
    program.end().end();
    program.begin("autograd::engine::evaluate_function: ConvolutionBackward0");
    program.run("aten::convolution_backward", "dgrad", 2 * kMilli);
    program.end();
  }
  trace::RunInfo run;
  run.devices.push_back({0, kA100, 1'000'000, {}});
  Trace trace = program.make("", run);
  if (memory_in_use) {
    trace::MemoryEvent event;
    event.device = trace::MemoryDevice::gpu;
    event.device_index = 0;
    event.total_allocated = memory_in_use;
    trace.memory.push_back(event);
  }
  return trace;
}

TEST(ComputeRules, WhatIsComputedAgainInTheBackwardPassIsWorthItsTime) {
  const Suggestions found = suggest(checkpointed(400'000));
  const Suggestion* one = found_by_rule(found, "recompute");
  ASSERT_TRUE(one != nullptr && one->gain) << found.why_no_gains;
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 10 * 1.5e6, 0.2e6);
  EXPECT_NE(found_by_rule(suggest(checkpointed(std::nullopt)), "recompute"), nullptr);
}

TEST(ComputeRules, RecomputingIsRightWhereMemoryIsShort) {
  EXPECT_EQ(found_by_rule(suggest(checkpointed(800'000), true), "recompute"), nullptr);
}

}  // namespace fathom::advise::compute_rules_test
