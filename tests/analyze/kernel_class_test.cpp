#include "analyze/classes/kernel_class.h"

#include <gtest/gtest.h>

#include "analyze/classes/class_times.h"
#include "analyze/hta/gpu_work.h"
#include "analyze/trace_maker.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::analyze::kernel_class_test {

using trace::SpanKind;

struct Named {
  const char* expected;
  const char* op;  // empty where only the name is known
  const char* kernel;
};

TEST(KernelClass, FollowsOperationThenName) {
  constexpr Named kKnown[] = {
      {"convolution", "aten::cudnn_convolution", "volta_sgemm_64x64_nn"},
      {"convolution", "aten::convolution_backward", "void cask_cudnn::foo<int>"},
      {"gemm", "aten::addmm", "volta_sgemm_64x64_nn"},
      {"gemm", "", "volta_sgemm_64x64_nn"},
      {"gemm", "", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64"},
      {"gemm", "", "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"},
      {"gemm", "", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"},
      {"gemm", "", "void gemv2T_kernel_val<int, int, float>"},
      {"gemm", "", "void cublasLt::splitKreduce_kernel<32, 16>"},
      {"gemm", "", "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::GemmKernel>(Params)"},
      {"elementwise", "", "loop_add_fusion_3"},
      {"elementwise", "", "wrapped_convert"},
      {"gemm", "", "gemm_fusion_dot_12"},
      {"layout", "", "input_transpose_fusion.1"},
      {"layout", "", "loop_dynamic_update_slice_fusion"},
      {"reduce", "", "input_reduce_fusion_2"},
      {"convolution", "", "volta_scudnn_128x64_relu_interior_nn_v1"},
      {"convolution", "", "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc"},
      {"convolution", "", "igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16"},
      {"convolution", "", "SubTensorOpWithCastTensor1d"},
      {"convolution", "", "batched_transpose_16x64_pack_1x4_ediv_1x2_half"},
      {"layout", "", "void cuda::batched_transpose<512, 128, 1, 1>(unsigned char const*)"},
      {"index", "fbgemm::permute_2D_sparse_data", "void fbgemm_gpu::permute_2D_data_kernel<int>"},
      {"index", "", "void fbgemm_gpu::bounds_check_indices_kernel<long>"},
      {"quantize", "fbgemm::FloatToFP8RowwiseQuantized", "void fbgemm_gpu::_compute_kernel<float>"},
      {"index", "fbgemm::linearize_cache_indices", "linearize_kernel"},
      {"communication", "", "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"},
      {"communication", "", "void deep_ep::internode::dispatch<true>"},
      {"communication", "", "void dpsk::ep::internode::combine<false, 8, __nv_bfloat16>(int4*)"},
      {"communication", "", "void internode_ll::dispatch<true>(int)"},
      {"communication", "", "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 2>"},
      {"communication", "", "rocshmem_put_nbi_wg"},
      {"communication", "", "void mscclpp::allreduce7<int>"},
      {"communication", "", "tensorrt_llm::kernels::lamport_style_one_shot_kernel"},
      {"communication", "vllm::all_reduce", "some_kernel_of_its_own"},
      {"communication", "record_param_comms", "void copy_chunks(int)"},
      {"softmax", "", "softmax_warpAllReduce"},
      {"copy", "c10d::alltoall_", "Memcpy DtoD (Device -> Device)"},
      {"copy", "aten::mm", "__amd_rocclr_copyBuffer"},
      {"fill", "", "__amd_rocclr_fillBufferAligned.kd"},
      {"moe", "", "_combined_routing_memset"},
      {"attention", "", "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>"},
      {"attention", "", "void cutlass::device_kernel<flash::FlashAttnBwd<flash::Main<2>>>"},
      {"attention", "",
       "void paged_attention_ll4mi_QKV_mfma16_kernel<(vllm::Fp8KVCacheDataType)0>"},
      {"attention", "aten::_flash_attention_forward", "attn_fwd"},
      {"attention", "vllm::unified_attention_with_output", "fmhaSm100aKernel_QkvE4m3OBfloat16"},
      {"rope_kv", "", "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>"},
      {"rope_kv", "_C::rotary_embedding", "void vllm::rotary_embedding_kernel<c10::BFloat16>"},
      {"gemm", "RopeLoraFlashAttnVarlenFuncBackward", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn"},
      {"moe", "vllm::moe_forward", "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2"},
      {"moe", "", "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
      {"norm", "aten::cudnn_batch_norm", "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>"},
      {"norm", "", "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16E"},
      {"reduce", "aten::linalg_vector_norm", "void at::native::reduce_kernel<512, 1>"},
      {"softmax", "", "void (anonymous namespace)::softmax_warp_forward<float>"},
      {"sort", "aten::argmax", "void at::native::reduce_kernel<512, 1, ArgMaxOps>"},
      {"index", "aten::_index_put_impl_", "void cub::DeviceRadixSortSingleTileKernel<long>"},
      {"rng", "aten::native_dropout", "fused_dropout_kernel_vec"},
      {"optimizer", "",
       "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>"},
      {"quantize", "", "void cuda::per_token_cast_to_fp8_with_channels<__nv_bfloat16, 128>"},
      {"layout", "aten::copy_", "void at::native::elementwise_kernel<128, 4>"},
      {"layout", "", "void at::native::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>"},
      {"elementwise", "aten::max_pool2d_with_indices", "void max_pool_forward_nchw<float, float>"},
      {"elementwise", "aten::gelu", "void at::native::vectorized_elementwise_kernel<4>"},
      {"elementwise", "aten::something_new", "nobody_knows"},
      {"reduce", "", "triton_red_fused_add_mean_mul_0"},
      {"norm", "", "triton_red_fused_add_mean_mul_pow_rsqrt_0"},
      {"norm", "", "triton_per_fused_native_layer_norm_1"},
      {"softmax", "", "triton_red_fused__softmax_2"},
      {"layout", "", "triton_poi_fused__to_copy_clone_1"},
      {"elementwise", "", "triton_poi_fused_convolution_relu_4"},
      {"elementwise", "CompiledFunction", "triton_poi_fused__unsafe_view_mul_silu_2"},
      {"gemm", "", "triton_tem_fused_addmm_7"},
      {"index", "", "triton_poi_fused_embedding_0"},
      {"other", "CompiledFunction", "triton__0d1d2d3d"},
      {"other", "", "saxpy"},
      {"other", "", ""},
  };
  for (const Named& one : kKnown) {
    EXPECT_EQ(name_of(kernel_class(SpanKind::kernel, one.kernel, one.op)), one.expected)
        << one.kernel << " within '" << one.op << "'";
  }
  EXPECT_EQ(kernel_class(SpanKind::copy, "ncclSomething", "aten::mm"), KernelClass::copy);
  EXPECT_EQ(kernel_class(SpanKind::fill, "gemm"), KernelClass::fill);
}

TEST(KernelClass, NamesAreUniqueAndLeadBack) {
  for (std::size_t i = 0; i < kKernelClasses; ++i) {
    const auto one = static_cast<KernelClass>(i);
    EXPECT_EQ(kernel_class_of(name_of(one)), one);
    EXPECT_NE(label_of(one), "");
  }
  EXPECT_FALSE(kernel_class_of("matrix"));
}

std::vector<KernelClass> classes_of(const trace::Trace& trace) {
  std::vector<KernelClass> found;
  for (const WorkRow& row : gpu_work(trace).rows) found.push_back(row.kernel_class);
  return found;
}

TEST(WorkClass, TheInnermostOperationOfTheLaunchDecides) {
  const trace::Trace trace = TraceMaker()
                                 .op("aten::conv2d", 0, 100)
                                 .op("aten::cudnn_convolution", 10, 80)
                                 .call("cudaLaunchKernel", 20, 5, 1)
                                 .op("aten::fill_", 40, 20)
                                 .call("cudaLaunchKernel", 45, 5, 2)
                                 .gpu("volta_sgemm_64x64_nn", 200, 10, 1)
                                 .gpu("FillFunctor", 220, 10, 2)
                                 .make();
  EXPECT_EQ(classes_of(trace),
            (std::vector<KernelClass>{KernelClass::convolution, KernelClass::elementwise}));
}

TEST(WorkClass, OfAGraphTheNamesAloneTell) {
  const trace::Trace trace = TraceMaker()
                                 .op("aten::cudnn_convolution", 0, 100)
                                 .call("cudaGraphLaunch", 20, 5, 1)
                                 .gpu("volta_sgemm_64x64_nn", 200, 10, 1)
                                 .make();
  EXPECT_EQ(classes_of(trace), (std::vector<KernelClass>{KernelClass::gemm}));
}

TEST(WorkClass, PlainWorkOfAnOptimizersStepIsTheOptimizers) {
  const trace::Trace trace = TraceMaker()
                                 .step("Optimizer.step#Muon.step", 0, 100)
                                 .op("aten::mul_", 10, 20)
                                 .call("cudaLaunchKernel", 15, 5, 1)
                                 .op("aten::mm", 40, 20)
                                 .call("cudaLaunchKernel", 45, 5, 2)
                                 .op("aten::mul_", 110, 20)
                                 .call("cudaLaunchKernel", 115, 5, 3)
                                 .gpu("elementwise_kernel", 200, 10, 1)
                                 .gpu("gemm", 220, 10, 2)
                                 .gpu("elementwise_kernel", 240, 10, 3)
                                 .make();
  EXPECT_EQ(classes_of(trace), (std::vector<KernelClass>{KernelClass::optimizer, KernelClass::gemm,
                                                         KernelClass::elementwise}));
  const auto by_name = classes_by_name(trace, gpu_work(trace));  // a tie: the first in order
  EXPECT_EQ(by_name[trace.spans.name[trace.spans.size() - 1]], KernelClass::optimizer);
}

TEST(ClassTimes, AddUpToAllWork) {
  const trace::Trace trace = TraceMaker()
                                 .gpu("gemm", 0, 30)
                                 .gpu("gemm", 40, 30)
                                 .gpu("saxpy", 10, 20, trace::kNoCorrelation, 8)
                                 .gpu("Memcpy", 80, 20, trace::kNoCorrelation, 7, SpanKind::copy)
                                 .make();
  const std::vector<ClassTime> found = class_times(gpu_work(trace));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].kernel_class, KernelClass::gemm);
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_EQ(found[0].sum_ns, 60);
  EXPECT_DOUBLE_EQ(found[0].share_pct, 60);
  EXPECT_TRUE(tell_anything(found));
  EXPECT_FALSE(tell_anything({{KernelClass::other, 1, 10, 50}, {KernelClass::copy, 1, 10, 50}}));
  EXPECT_FALSE(tell_anything({}));
}

TEST(ClassCorpus, LessThanTwoPercentOfGpuTimeHasNoClass) {
  bool any = false;
  for (const char* folder : {"kineto", "nsys", "expert"}) {
    for (const std::string& file : trace::corpus_files(folder)) {
      if (file.ends_with(".pickle")) continue;
      any = true;
      for (const ClassTime& one : class_times(gpu_work(trace::read_trace(file)))) {
        if (one.kernel_class != KernelClass::other) continue;
        EXPECT_LT(one.share_pct, 2) << file;
      }
    }
  }
  if (!any) GTEST_SKIP() << "no corpus";
}

// What DeepEP exchanges was compute to those who look for NCCL alone.
TEST(ClassCorpus, TheExchangeOfExpertsIsCommunication) {
  const auto file = trace::corpus_file("expert/h800_deepseek_train.json");
  if (!file) GTEST_SKIP() << "no corpus";
  const std::vector<ClassTime> found = class_times(gpu_work(trace::read_trace(*file)));
  EXPECT_EQ(found.front().kernel_class, KernelClass::communication);
  EXPECT_NEAR(found.front().share_pct, 46.5, 0.1);
}

}  // namespace fathom::analyze::kernel_class_test
