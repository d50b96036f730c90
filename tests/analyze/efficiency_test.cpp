#include "analyze/efficiency/efficiency.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyze/efficiency/kernel_math.h"
#include "analyze/efficiency/op_work.h"
#include "analyze/operations/steps.h"
#include "analyze/trace_maker.h"
#include "base/error.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::analyze::efficiency_test {

constexpr const char* kHalf = "c10::BFloat16";

// "[[8, 4], [4, 2]]", of 16-bit floats, with these concrete inputs.
std::string args_of(const std::string& dims, const std::string& types,
                    const std::string& concrete = "[]") {
  return R"({"Input Dims": )" + dims + R"(, "Input type": )" + types + R"(, "Concrete Inputs": )" +
         concrete + "}";
}

std::optional<OpWork> work_of(const char* op, const std::string& dims, const std::string& types,
                              const std::string& concrete = "[]") {
  return op_work(op, op_inputs(args_of(dims, types, concrete)));
}

std::string types(std::size_t count, const char* type = kHalf) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}\"{}\"", i == 0 ? "" : ",", type);
  return text + "]";
}

void expect_work(const std::optional<OpWork>& work, double flop, double bytes) {
  ASSERT_TRUE(work);
  EXPECT_DOUBLE_EQ(work->flop, flop);
  EXPECT_DOUBLE_EQ(work->bytes, bytes);
}

TEST(OpWork, OfProducts) {
  const double flop = 2.0 * 8 * 4 * 2;
  const double bytes = 2.0 * (8 * 4 + 4 * 2 + 8 * 2);
  expect_work(work_of("aten::mm", "[[8, 4], [4, 2]]", types(2)), flop, bytes);
  expect_work(work_of("aten::addmm", "[[2], [8, 4], [4, 2], [], []]", types(5)), flop, bytes);
  expect_work(work_of("aten::bmm", "[[3, 8, 4], [3, 4, 2]]", types(2)), 3 * flop, 3 * bytes);
  expect_work(work_of("aten::linear", "[[8, 4], [2, 4]]", types(2)), flop, bytes);
  expect_work(work_of("aten::mv", "[[8, 4], [4]]", types(2)), 2.0 * 8 * 4, 2.0 * (32 + 4 + 8));
  EXPECT_FALSE(work_of("aten::mm", "[[8, 4], [5, 2]]", types(2)));
  EXPECT_FALSE(work_of("aten::mm", "[[8, -4], [-4, 2]]", types(2)));
  EXPECT_FALSE(work_of("aten::mm", "[[8, 4], [4, 2]]", types(2, "some::type")));
  EXPECT_FALSE(work_of("aten::mm", "[]", "[]"));
  EXPECT_FALSE(op_work("aten::mm", op_inputs("{}")));
  EXPECT_FALSE(op_work("aten::mm", op_inputs("nonsense")));
}

// 7 x 7 with padding 1 and stride 2 has 4 x 4 places for a kernel of 3 x 3.
TEST(OpWork, OfConvolutions) {
  const double out = 2.0 * 16 * 4 * 4;
  const double flop = 2 * out * 8 * 9;
  const double bytes = 2 * (2.0 * 8 * 49 + 16.0 * 8 * 9 + out);
  expect_work(work_of("aten::cudnn_convolution", "[[2, 8, 7, 7], [16, 8, 3, 3], [], [], [], []]",
                      types(6), R"(["", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"])"),
              flop, bytes);
  expect_work(
      work_of("aten::miopen_convolution", "[[2, 8, 7, 7], [16, 8, 3, 3], [], [], [], [], []]",
              types(7), R"(["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"])"),
      flop, bytes);
  const std::string backward =
      "[[2, 16, 4, 4], [2, 8, 7, 7], [16, 8, 3, 3], [], [], [], [], [], [], [], []]";
  const auto masked = [&](const char* mask) {
    return work_of("aten::convolution_backward", backward, types(11),
                   fmt::format(R"(["", "", "", "[0]", "", "", "", "", "", "1", "{}"])", mask));
  };
  expect_work(masked("[True, True, False]"), 2 * flop, 2 * bytes);
  expect_work(masked("[False, True, False]"), flop, bytes);
  EXPECT_FALSE(
      work_of("aten::cudnn_convolution", "[[2, 8, 7, 7], [16, 8, 3, 3], [], [], [], []]", types(6)))
      << "without options its output is not known";
}

TEST(OpWork, OfAttention) {
  const double flop = 4.0 * 2 * 3 * 10 * 20 * 64;
  const double bytes = 2 * 64 * 2.0 * (2 * 3 * 10 + 2 * 1 * 20);
  const std::string flash = "[[2, 10, 3, 64], [2, 20, 1, 64], [2, 20, 1, 64], [], []]";
  const auto causal = [](const char* is) { return fmt::format(R"(["", "", "", "0.", "{}"])", is); };
  expect_work(work_of("aten::_flash_attention_forward", flash, types(5), causal("False")), flop,
              bytes);
  expect_work(work_of("aten::_flash_attention_forward", flash, types(5), causal("True")), flop / 2,
              bytes);
  expect_work(work_of("aten::_scaled_dot_product_flash_attention",
                      "[[2, 3, 10, 64], [2, 1, 20, 64], [2, 1, 20, 64], [], []]", types(5),
                      causal("False")),
              flop, bytes);
  expect_work(work_of("aten::_scaled_dot_product_flash_attention_backward",
                      "[[2, 3, 10, 64], [2, 3, 10, 64], [2, 1, 20, 64], [2, 1, 20, 64], []]",
                      types(5), R"(["", "", "", "", "False"])"),
              2.5 * flop, 2 * bytes);
}

TEST(OpWork, OfTheRest) {
  expect_work(work_of("aten::_softmax", "[[8, 4], [], []]", types(3)), 5 * 32, 2 * 2 * 32);
  expect_work(work_of("aten::native_layer_norm_backward", "[[8, 4], [8, 4], []]", types(3)), 5 * 32,
              3 * 2 * 32);
  expect_work(work_of("aten::gelu_", "[[8, 4]]", types(1)), 5 * 32, 2 * 2 * 32);
  expect_work(work_of("aten::mul", "[[8, 4], [4]]", types(2)), 32, 2 * (32 + 4 + 32));
  expect_work(work_of("aten::add", R"([[8, 4], [], []])", R"(["float", "double", "Scalar"])"), 32,
              4 * (32 + 32));
  expect_work(work_of("aten::copy_", "[[8, 4], [8, 4], []]", R"(["float", "c10::Half", "Scalar"])"),
              32, 32 * (4 + 2));
  expect_work(work_of("aten::gt", "[[8, 4], [8, 4]]", R"(["float", "float"])"), 32,
              32 * (4 + 4 + 1));
  expect_work(work_of("aten::sum", "[[8, 4]]", types(1, "float")), 32, 4 * 32);
  expect_work(work_of("aten::embedding", "[[1000, 16], [5, 2]]", R"(["float", "long int"])"), 0,
              2 * 4 * 10 * 16);
  EXPECT_FALSE(work_of("vllm::moe_forward", "[[8, 4]]", types(1)));
}

TEST(KernelMath, PlainFp32IsNeitherOnTensorCoresNorNarrower) {
  EXPECT_TRUE(is_plain_fp32("volta_sgemm_128x64_nn"));
  EXPECT_TRUE(is_plain_fp32("void gemmSN_TN_kernel<float, 128, 16, 2>"));
  EXPECT_TRUE(is_plain_fp32("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_stage3_ffma_kernel"));
  EXPECT_FALSE(is_plain_fp32("ampere_sgemm_fp16_128x64_f16f16_tn"));
  EXPECT_FALSE(is_plain_fp32("nvjet_tss_128x64<float>"));
  EXPECT_FALSE(is_plain_fp32("void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16>"));
  EXPECT_FALSE(is_plain_fp32("void gemv2T_kernel_val<int, int, __half, __half, __half, float>"));
  EXPECT_FALSE(is_plain_fp32("my_matmul"));
  EXPECT_TRUE(is_tf32("cutlass_80_tensorop_s1688gemm_256x64"));
  EXPECT_FALSE(is_tf32("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128"));
}

TEST(KernelMath, KnowsTensorCoresAndTf32ByName) {
  EXPECT_EQ(on_tensor_cores("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n"), true);
  EXPECT_EQ(on_tensor_cores("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64>"), true);
  EXPECT_EQ(on_tensor_cores("Cijk_Alik_Bljk_BBS_BH_MT256x192x64_MI16x16x1_SN"), true);
  EXPECT_EQ(on_tensor_cores("volta_sgemm_128x64_nn"), false);
  EXPECT_EQ(on_tensor_cores("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_stage3_ffma"), false);
  EXPECT_EQ(on_tensor_cores("ampere_h16816gemm_128x64_ldg8_stages_64x3_nn"), true);
  EXPECT_EQ(on_tensor_cores("turing_h1688gemm_128x64_nn"), true);
  EXPECT_EQ(on_tensor_cores("turing_i8816cudnn_int8_xmma_gemm_f16_128x64"), true);
  EXPECT_EQ(on_tensor_cores("void cudnn::detail::dgrad_engine<float, 512, 6>"), false);
  EXPECT_FALSE(on_tensor_cores("void splitKreduce_kernel<float, float>"));
  EXPECT_FALSE(on_tensor_cores("my_matmul"));
  const OpWork floats{1, 1, true, 4, true};
  const OpWork halves{1, 1, true, 2, true};
  EXPECT_EQ(arithmetic_of(floats, "cutlass_80_tensorop_s1688gemm_256x64"), Arithmetic::tf32);
  EXPECT_EQ(arithmetic_of(floats, "ampere_sgemm_128x64_nn"), Arithmetic::fp32);
  EXPECT_EQ(arithmetic_of(halves, "cutlass_75_tensorop_bf16_s1688gemm_bf16"), Arithmetic::fp16);
}

// What has the name of a GPU in its own is not that GPU.
TEST(Peaks, OtherCardsAndPartsOfOneAreNotTakenForTheWhole) {
  for (const char* name :
       {"NVIDIA L40", "NVIDIA H100 NVL", "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 2080",
        "NVIDIA GH200 480GB", "NVIDIA H20", "GRID T4-8Q", "NVIDIA T400", "NVIDIA A1000"}) {
    EXPECT_FALSE(peaks_of(name, 100'000'000'000).any()) << name;
  }
}

TEST(Peaks, AreThoseOfTheDeviceUnlessGiven) {
  EXPECT_EQ(peaks_of("NVIDIA H100 80GB HBM3").fp16_tflops, 989.4);
  EXPECT_EQ(peaks_of("NVIDIA H100 PCIe").memory_gb_s, 2000);
  EXPECT_EQ(peaks_of("NVIDIA A100-PG509-200", 42'000'000'000).memory_gb_s, 1555);
  EXPECT_EQ(peaks_of("NVIDIA A100-SXM4-80GB").memory_gb_s, 2039);
  EXPECT_EQ(peaks_of("AMD Instinct MI300X VF").link_gb_s, 896);
  EXPECT_FALSE(peaks_of("Intel Arc").any());
  EXPECT_EQ(peaks_of("NVIDIA L4").memory_gb_s, 300);
  EXPECT_EQ(peaks_of("Tesla V100-PCIE-32GB").fp32_tflops, 14);
  EXPECT_EQ(peaks_of("Tesla V100-SXM2-32GB").link_gb_s, 300);
  EXPECT_EQ(peaks_of("AMD Instinct MI250X/MI250").memory_gb_s, 1638);
  EXPECT_EQ(peaks_of("NVIDIA A100 80GB PCIe", 85'000'000'000).memory_gb_s, 1935);
  EXPECT_EQ(peaks_of("NVIDIA GeForce RTX 2080 Ti").memory_gb_s, 616);
  const DevicePeaks given = parse_peaks("fp16=300,gbps=1500");
  const DevicePeaks both = with_given(peaks_of("NVIDIA A100-SXM4-80GB"), given);
  EXPECT_EQ(both.fp16_tflops, 300);
  EXPECT_EQ(both.memory_gb_s, 1500);
  EXPECT_EQ(both.tf32_tflops, 156);
  EXPECT_FALSE(parse_peaks("").any());
  for (const char* wrong : {"fp16", "fp16=", "fp16=x", "fp16=-1", "int4=3", "fp16=1e400", "=3"}) {
    EXPECT_THROW(parse_peaks(wrong), base::Error) << wrong;
  }
}

TEST(Collectives, BusBandwidthIsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(exchange_of("allreduce"), 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(exchange_of("_allgather_base"), 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(exchange_of("reduce_scatter_tensor_coalesced"), 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(exchange_of("all_to_allv"), 2), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor(exchange_of("broadcast"), 8), 1);
}

// An mm of 2 GFLOP in 4 µs on a GPU of 1,000 TFLOP/s, twice, in steps of 20 and 10 µs on the GPU.
TEST(Efficiency, OfAStepIsItsMatrixWorkAtThePeak) {
  const std::string mm = args_of("[[1000, 1000], [1000, 1000]]", types(2));
  trace::RunInfo run;
  run.devices = {{0, "A GPU of tomorrow", {}, {}}};
  const trace::Trace trace = TraceMaker()
                                 .step("ProfilerStep#1", 0, 20'000)
                                 .op("aten::mm", 1'000, 3'000)
                                 .shaped("1000x1000, 1000x1000")
                                 .with_args(mm)
                                 .call("cudaLaunchKernel", 2'000, 1'000, 1)
                                 .step("ProfilerStep#2", 20'000, 10'000)
                                 .op("aten::mm", 21'000, 3'000)
                                 .shaped("1000x1000, 1000x1000")
                                 .with_args(mm)
                                 .call("cudaLaunchKernel", 22'000, 1'000, 2)
                                 .gpu("gemm_bf16bf16", 5'000, 4'000, 1)
                                 .gpu("gemm_bf16bf16", 25'000, 4'000, 2)
                                 .make(run);
  const GpuWork work = gpu_work(trace);
  const std::vector<trace::SpanId> steps = step_spans(trace);
  const Efficiency unknown = efficiencies(trace, work, steps).front();
  EXPECT_TRUE(unknown.has_shapes);
  EXPECT_FALSE(unknown.mfu_pct());
  ASSERT_EQ(unknown.work.size(), 1U);
  EXPECT_DOUBLE_EQ(unknown.work[0].rate.tflops(), 500);
  EXPECT_FALSE(unknown.work[0].rate.efficiency_pct());

  const Efficiency used =
      efficiencies(trace, work, steps, parse_peaks("fp16=1000,gbps=10000")).front();
  EXPECT_EQ(used.device_name, "A GPU of tomorrow");
  EXPECT_EQ(used.work[0].rate.count, 2U);
  EXPECT_DOUBLE_EQ(*used.work[0].rate.peak_pct(), 50);
  EXPECT_DOUBLE_EQ(*used.work[0].rate.efficiency_pct(), 50);
  EXPECT_FALSE(used.work[0].rate.is_memory_bound());
  EXPECT_DOUBLE_EQ(*used.of("gemm_bf16bf16")->rate->peak_pct(), 50);
  EXPECT_DOUBLE_EQ(*used.of("aten::mm")->rate->peak_pct(), 50);
  EXPECT_EQ(used.of("aten::add"), nullptr);
  ASSERT_EQ(used.steps.size(), 2U);
  EXPECT_EQ(used.steps[0].time_ns, 25'000);  // from its start on the host to the next on the GPU
  EXPECT_DOUBLE_EQ(used.steps[0].mfu_pct(), 8);
  EXPECT_EQ(used.steps[1].time_ns, 5'000);
  EXPECT_DOUBLE_EQ(used.steps[1].mfu_pct(), 40);
  EXPECT_DOUBLE_EQ(*used.mfu_pct(), 4'000.0 / 30'000 * 100);
  EXPECT_DOUBLE_EQ(*used.tensor_core_pct(), 100);

  const Efficiency both = join({used, used});
  EXPECT_DOUBLE_EQ(*both.mfu_pct(), *used.mfu_pct());
  EXPECT_EQ(both.work[0].rate.count, 4U);
  EXPECT_DOUBLE_EQ(*both.of("aten::mm")->rate->peak_pct(), 50);
}

// What a kernel achieves is known where it is what its operation does; not of one that turns the
// input of a convolution around first.
TEST(Efficiency, OfAKernelIsThatOfOperationsThatItFills) {
  const std::string mm = args_of("[[1000, 1000], [1000, 1000]]", types(2));
  const auto used_with = [&](std::int64_t other_ns) {
    const trace::Trace trace = TraceMaker()
                                   .op("aten::mm", 1'000, 10'000)
                                   .shaped("1000x1000, 1000x1000")
                                   .with_args(mm)
                                   .call("cudaLaunchKernel", 2'000, 1'000, 1)
                                   .call("cudaLaunchKernel", 4'000, 1'000, 2)
                                   .gpu("gemm_bf16bf16", 5'000, 8'000, 1)
                                   .gpu("transpose", 20'000, other_ns, 2)
                                   .make();
    return efficiencies(trace, gpu_work(trace), {}).front();
  };
  const auto rate = [](const Efficiency& used, const char* name) {
    const NameFigures* figures = used.of(name);
    return figures != nullptr && figures->rate.has_value();
  };
  EXPECT_TRUE(rate(used_with(1'000), "gemm_bf16bf16"));
  EXPECT_FALSE(rate(used_with(4'000), "gemm_bf16bf16"));
  EXPECT_FALSE(rate(used_with(9'000), "transpose"));
  EXPECT_TRUE(rate(used_with(9'000), "aten::mm"));
}

TEST(Efficiency, WithoutShapesSaysThatThereCouldBeSome) {
  const trace::Trace trace = TraceMaker()
                                 .op("aten::mm", 0, 3'000)
                                 .call("cudaLaunchKernel", 1'000, 1'000, 1)
                                 .gpu("gemm", 5'000, 4'000, 1)
                                 .make();
  const Efficiency used = efficiencies(trace, gpu_work(trace), {}).front();
  EXPECT_FALSE(used.has_shapes);
  EXPECT_TRUE(used.could_have_shapes);
  EXPECT_TRUE(used.work.empty());
  EXPECT_FALSE(used.mfu_pct());
}

std::optional<Efficiency> of_corpus(const char* name) {
  const auto file = trace::corpus_file(name);
  if (!file) return std::nullopt;
  const trace::Trace trace = trace::read_trace(*file);
  return efficiencies(trace, gpu_work(trace), step_spans(trace)).front();
}

const WorkRate& rate_of(const Efficiency& used, std::string_view op, std::string_view shapes) {
  for (const ShapedWork& one : used.work) {
    if (one.op == op && one.shapes.starts_with(shapes)) return one.rate;
  }
  static const WorkRate none;
  ADD_FAILURE() << "no " << op << " of " << shapes;
  return none;
}

TEST(EfficiencyCorpus, QwenOnAnH100) {
  const auto used = of_corpus("expert/h100_qwen.json.gz");
  if (!used) GTEST_SKIP() << "no corpus";
  const WorkRate& mm = rate_of(*used, "aten::mm", "8944x1024, 1024x2816");
  EXPECT_EQ(mm.count, 48U);
  EXPECT_NEAR(mm.peak_pct().value_or(0), 61.7, 0.5);
  const WorkRate& flash = rate_of(*used, "aten::_flash_attention_forward", "16x559x16x64");
  EXPECT_NEAR(flash.peak_pct().value_or(0), 9.1, 0.5);
  const WorkRate& rope = rate_of(*used, "aten::mul", "16x16x559x64, 1x1x559x64");
  EXPECT_NEAR(rope.bandwidth_pct().value_or(0), 39, 0.5);
  EXPECT_NEAR(used->mfu_pct().value_or(0), 11.8, 0.1);
}

TEST(EfficiencyCorpus, TimesformerOnAnH100) {
  const auto used = of_corpus("expert/h100_timesformer.json.gz");
  if (!used) GTEST_SKIP() << "no corpus";
  EXPECT_NEAR(rate_of(*used, "aten::_softmax", "8x12x3137x3137").bandwidth_pct().value_or(0), 19.7,
              0.5);
  EXPECT_NEAR(rate_of(*used, "aten::bmm", "96x3137x64").peak_pct().value_or(0), 6.4, 0.5);
  EXPECT_NEAR(rate_of(*used, "aten::bmm", "96x3137x3137").peak_pct().value_or(0), 7.2, 0.5);
  const double first = rate_of(*used, "aten::addmm", "3072, 25089x768").peak_pct().value_or(0);
  const double second = rate_of(*used, "aten::addmm", "768, 25089x3072").peak_pct().value_or(0);
  EXPECT_NEAR(first, 72.5, 0.5);
  EXPECT_NEAR(second, 75, 0.5);
}

TEST(EfficiencyCorpus, AllReducesOfEightMi300) {
  const auto used = of_corpus("expert/mi300_resnet_8gpu.json.gz");
  if (!used) GTEST_SKIP() << "no corpus";
  ASSERT_GE(used->collectives.size(), 2U);
  EXPECT_EQ(used->collectives[0].ranks, 8);
  EXPECT_EQ(used->collectives[0].bytes, 17'632'384);
  EXPECT_NEAR(used->collectives[0].bus_gb_s(), 3.5, 0.05);
  EXPECT_NEAR(used->collectives[1].bus_gb_s(), 1.5, 0.05);
}

TEST(EfficiencyCorpus, OccupancyIsThatOfTheProfiler) {
  const auto used = of_corpus("expert/ns_resnet_v100.json.gz");
  if (!used) GTEST_SKIP() << "no corpus";
  std::size_t known = 0;
  for (const auto& [name, figures] : used->by_name) {
    const auto pct = figures.occupancy_pct();
    if (!pct) continue;
    ++known;
    EXPECT_GE(*pct, 0) << name;
    EXPECT_LE(*pct, 100) << name;
  }
  EXPECT_GT(known, 20U);
  EXPECT_TRUE(used->could_have_shapes);
  EXPECT_FALSE(used->has_shapes);
}

}  // namespace fathom::analyze::efficiency_test
