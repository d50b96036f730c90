#include "advise/platform.h"

#include <gtest/gtest.h>

#include "analyze/trace_maker.h"

namespace fathom::advise::platform_test {

using analyze::TraceMaker;
using trace::SpanKind;

Platform of(TraceMaker& maker, const std::string& device = "") {
  trace::RunInfo run;
  if (!device.empty()) run.devices.push_back({0, device, {}, {}});
  return platform_of(maker.make(run));
}

TEST(Platform, TheRuntimeIsThatOfItsCalls) {
  EXPECT_EQ(of(TraceMaker().call("cudaLaunchKernel", 0, 5)).runtime, Runtime::cuda);
  EXPECT_EQ(of(TraceMaker().call("cuLaunchKernel", 0, 5)).runtime, Runtime::cuda);
  EXPECT_EQ(of(TraceMaker().call("hipLaunchKernel", 0, 5)).runtime, Runtime::hip);
  EXPECT_EQ(of(TraceMaker().call("clFinish", 0, 5)).runtime, Runtime::opencl);
  EXPECT_EQ(of(TraceMaker().call("clip", 0, 5)).runtime, Runtime::unknown);
  EXPECT_EQ(of(TraceMaker().op("clClip", 0, 5)).runtime, Runtime::unknown);
}

TEST(Platform, WithoutCallsTheDeviceTells) {
  EXPECT_EQ(of(TraceMaker().gpu("k", 0, 5), "NVIDIA A100").runtime, Runtime::cuda);
  EXPECT_EQ(of(TraceMaker().gpu("k", 0, 5), "AMD Instinct MI210").runtime, Runtime::hip);
  EXPECT_EQ(of(TraceMaker().gpu("k", 0, 5), "pthread-haswell-AMD EPYC").runtime, Runtime::unknown);
  EXPECT_EQ(of(TraceMaker().call("clFinish", 0, 5), "NVIDIA A100").runtime, Runtime::opencl);
}

TEST(Platform, PytorchIsKnownByItsOperationsAnnotationsAndKernels) {
  EXPECT_TRUE(of(TraceMaker().op("aten::mm", 0, 5)).is_pytorch);
  EXPECT_TRUE(of(TraceMaker().step("ProfilerStep#3", 0, 5)).is_pytorch);
  EXPECT_TRUE(of(TraceMaker().gpu("void at::native::add<float>(int)", 0, 5)).is_pytorch);
  EXPECT_FALSE(of(TraceMaker().op("matmul", 0, 5)).is_pytorch);
}

TEST(Platform, FrameworksAreKnownByTheirOperationsAndFrames) {
  const auto frame = [](const std::string& name) {
    return of(TraceMaker().op(name, 0, 5, 1, SpanKind::python));
  };
  EXPECT_EQ(of(TraceMaker().op("vllm::moe_forward", 0, 5)).server, Server::vllm);
  EXPECT_EQ(frame("vllm/v1/worker/gpu_model_runner.py(2907): execute_model").server, Server::vllm);
  EXPECT_EQ(frame("/opt/python/vllm/v1/utils.py(1): f").server, Server::vllm);
  EXPECT_EQ(frame("/workspace/sglang/srt/server.py(1): run").server, Server::sglang);
  // SGLang calls operations of vLLM.
  EXPECT_EQ(of(TraceMaker()
                   .op("vllm::all_reduce", 0, 5)
                   .op("sglang/srt/server.py(1): run", 6, 5, 1, SpanKind::python))
                .server,
            Server::sglang);
  EXPECT_EQ(frame("my_vllm_client/main.py(1): run").server, Server::none);
  EXPECT_TRUE(frame("transformers/pipelines/base.py(1306): __call__").uses_transformers);
  EXPECT_FALSE(frame("my_transformers/model.py(1): run").uses_transformers);
  EXPECT_TRUE(frame("torch/nn/parallel/distributed.py(1493): _pre_forward").is_ddp);
  EXPECT_TRUE(of(TraceMaker().step("DistributedDataParallel.forward", 0, 5)).is_ddp);
  EXPECT_EQ(of(TraceMaker().step("FSDP::all_gather", 0, 5)).sharding, Sharding::fully_shard);
  EXPECT_EQ(frame("torch/distributed/fsdp/_fully_shard/_fsdp_state.py(1): f").sharding,
            Sharding::fully_shard);
  EXPECT_EQ(of(TraceMaker().step("FullyShardedDataParallel.forward", 0, 5)).sharding,
            Sharding::wrapper);
  EXPECT_TRUE(of(TraceMaker().step("XlaModule:#hlo_module=jit_step,program_id=3#", 0, 5)).is_jax);
  EXPECT_TRUE(frame("jax/_src/pjit.py(1): call").is_jax);
  EXPECT_FALSE(of(TraceMaker().op("aten::mm", 0, 5)).is_jax);
}

TEST(Platform, JaxGetsItsOwnWordsOrNoCode) {
  Platform platform;
  platform.runtime = Runtime::cuda;
  platform.is_jax = true;
  EXPECT_EQ(hint_for(platform, {.words = "Go", .jax = " jit.", .cuda = " cuda."}), "Go jit.");
  EXPECT_EQ(hint_for(platform, {.words = "Go", .cuda = " cuda."}), "Go.");
}

TEST(Platform, InferenceShowsNeitherABackwardPassNorAnOptimizer) {
  const Platform inference =
      of(TraceMaker().op("aten::mm", 0, 5).op("aten::_fused_sdp_choice", 6, 1));
  EXPECT_FALSE(inference.trains || inference.has_optimizer);
  EXPECT_EQ(fused_optimizer_line(inference), "");
  const Platform backward = of(TraceMaker().op("aten::mm", 0, 5).op("MmBackward0", 6, 1));
  EXPECT_TRUE(backward.trains);
  EXPECT_FALSE(backward.has_optimizer);
}

TEST(Platform, TheOptimizerThatWasSeenIsTheOneThatIsNamed) {
  const auto line = [](const std::string& name) {
    return fused_optimizer_line(of(TraceMaker().op(name, 0, 5, 1, SpanKind::annotation)));
  };
  EXPECT_NE(line("Optimizer.step#SGD.step").find("torch.optim.SGD("), std::string::npos);
  EXPECT_EQ(line("Optimizer.step#FusedAdam.step"), "");
  const Platform fused = of(TraceMaker()
                                .op("Optimizer.step#AdamW.step", 0, 9, 1, SpanKind::annotation)
                                .op("aten::_fused_adamw_", 1, 5));
  EXPECT_EQ(fused_optimizer_line(fused), "");
}

TEST(Platform, Tf32CameWithAmpere) {
  for (const char* name : {"Tesla V100-SXM2-16GB", "Tesla T4", "Quadro RTX 6000", "NVIDIA TITAN V",
                           "NVIDIA GeForce RTX 2080 Ti"}) {
    EXPECT_EQ(tensor_cores_of(name), TensorCores::without_tf32) << name;
  }
  for (const char* name : {"NVIDIA A100-PG509-200", "NVIDIA A10G", "NVIDIA H100 80GB HBM3",
                           "NVIDIA B200", "NVIDIA GeForce RTX 3090", "NVIDIA L4",
                           "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX A6000"}) {
    EXPECT_EQ(tensor_cores_of(name), TensorCores::with_tf32) << name;
  }
  for (const char* name : {"Tesla P100-PCIE-16GB", "NVIDIA T400", "AMD Instinct MI300X",
                           "NVIDIA GeForce GTX 1660", "pthread-haswell-AMD EPYC", ""}) {
    EXPECT_EQ(tensor_cores_of(name), TensorCores::none_known) << name;
  }
}

TEST(Platform, AHintGoesOnInTheLanguageOfTheProgram) {
  const Hints hints = {.words = "Copy ahead",
                       .pytorch = ".\nx.to(\"cuda\")",
                       .cuda = ".\ncudaMemcpyAsync(…);",
                       .opencl = ".\nclEnqueueCopyBuffer(…);"};
  Platform platform;
  EXPECT_EQ(hint_for(platform, hints), "Copy ahead.");
  platform.runtime = Runtime::opencl;
  EXPECT_EQ(hint_for(platform, hints), "Copy ahead.\nclEnqueueCopyBuffer(…);");
  platform.runtime = Runtime::hip;
  EXPECT_EQ(hint_for(platform, hints), "Copy ahead.\nhipMemcpyAsync(…);");
  platform.is_pytorch = true;
  EXPECT_EQ(hint_for(platform, hints), "Copy ahead.\nx.to(\"cuda\")");
}

}  // namespace fathom::advise::platform_test
