#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "advise/kernel_name.h"
#include "advise/said.h"
#include "analyze/trace_maker.h"

// What suggestions say fits what the trace is of, and what they show.
namespace fathom::advise::words_test {

using analyze::TraceMaker;
using trace::Trace;

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

// What a program calls what it does.
struct Calls {
  std::string launch;
  std::string wait;
  std::string build;
  std::string set_up;
};

const Calls kCuda = {"cudaLaunchKernel", "cudaDeviceSynchronize", "cuModuleLoadData", "cuInit"};
const Calls kHip = {"hipLaunchKernel", "hipDeviceSynchronize", "hipModuleLoad", "hipInit"};
const Calls kOpencl = {"clEnqueueNDRangeKernel", "clFinish", "clBuildProgram", "clCreateContext"};

// Builds a program, then is slow to launch many kernels and waits after each.
TraceMaker slow_program(const Calls& calls) {
  TraceMaker maker;
  maker.call(calls.build, 0, 20 * kMs);
  maker.call(calls.set_up, 20 * kMs, 5 * kMs);
  std::int64_t now = 25 * kMs;
  for (int i = 0; i < 200; ++i) {
    maker.call(calls.launch, now, 60 * kUs, i + 1);
    maker.gpu("saxpy", now + 64 * kUs, 40 * kUs, i + 1);
    maker.call(calls.wait, now + 60 * kUs, 47 * kUs);
    now += 150 * kUs;
  }
  return maker;
}

TEST(Words, OpenclGetsNoCodeOfPytorchOrCuda) {
  trace::RunInfo run;
  run.format = "Fathom run";
  const Suggestions found = suggest(slow_program(kOpencl).make(run));
  const std::string words = all_words(found);
  for (const char* part : {"torch", "cuda", "CUDA", "ncu ", "python", "model", "optim", "step("}) {
    EXPECT_FALSE(has(words, part)) << part << " in\n" << words;
  }
  ASSERT_NE(found_by_rule(found, "sync"), nullptr);
  EXPECT_TRUE(has(hint_with_code(*found_by_rule(found, "sync")), "clFinish"));
  EXPECT_TRUE(has(hint_with_code(*found_by_rule(found, "sync")), "clFlush"));
  ASSERT_NE(found_by_rule(found, "launch"), nullptr);
  EXPECT_TRUE(has(hint_with_code(*found_by_rule(found, "launch")), "NDRange"));
  ASSERT_NE(found_by_rule(found, "setup"), nullptr);
  EXPECT_TRUE(has(words, "clCreateProgramWithBinary"));
}

TEST(Words, PlainHipGetsNoCodeOfPytorchCudaOrOpencl) {
  const std::string words = all_words(suggest(slow_program(kHip).make()));
  EXPECT_TRUE(has(words, "hipGraphLaunch"));
  for (const char* part : {"torch", "cuda", "CUDA", "ncu ", "clF", "clC"}) {
    EXPECT_FALSE(has(words, part)) << part << " in\n" << words;
  }
}

TEST(Words, PlainCudaGetsNoCodeOfPytorchOrOpencl) {
  const std::string words = all_words(suggest(slow_program(kCuda).make()));
  EXPECT_TRUE(has(words, "cudaGraphLaunch"));
  for (const char* part : {"torch", "clF", "clC", "rocprof"}) {
    EXPECT_FALSE(has(words, part)) << part << " in\n" << words;
  }
}

TEST(Words, JaxGetsFlagsOfXlaAndNoCallsOfCuda) {
  TraceMaker maker = slow_program(kCuda);
  maker.step("XlaModule:#hlo_module=jit_step,program_id=12#", 25 * kMs, 30 * kMs);
  const std::string words = all_words(suggest(maker.make()));
  EXPECT_TRUE(has(words, "XLA_FLAGS=--xla_gpu_enable_command_buffer=FUSION")) << words;
  for (const char* part : {"torch", "cudaGraph", "clF"}) {
    EXPECT_FALSE(has(words, part)) << part << " in\n" << words;
  }
}

TEST(Words, AnOptimizerIsSpokenOfWhereThereIsOne) {
  TraceMaker inference = slow_program(kCuda);
  inference.op("aten::mm", 26 * kMs, kUs, 2);
  TraceMaker training = slow_program(kCuda);
  training.op("Optimizer.step#SGD.step", 27 * kMs, kUs, 2, trace::SpanKind::annotation);
  const std::string without = all_words(suggest(inference.make()));
  EXPECT_TRUE(has(without, "torch.compile"));
  EXPECT_FALSE(has(without, "torch.optim")) << without;
  EXPECT_TRUE(has(all_words(suggest(training.make())), "torch.optim.SGD(parameters"));
}

std::string how_to_look_at_a_kernel(const Calls& calls) {
  TraceMaker maker;
  for (int i = 0; i < 20; ++i) {
    maker.call(calls.launch, i * 5 * kUs, 5 * kUs, i + 1);
    maker.gpu("void flash::(anonymous namespace)::fwd_kernel<Traits<64>, true>(Params, int)",
              110 * kUs + i * 2 * kMs, 2 * kMs - kUs, i + 1);
  }
  trace::RunInfo run;
  run.command = "./attention 64";
  const Suggestions found = suggest(maker.make(run));
  const Suggestion* one = found_by_rule(found, "dominant");
  if (one == nullptr) return "";
  EXPECT_TRUE(has(one->description, "20 calls of fwd_kernel take")) << one->description;
  return hint_with_code(*one);
}

TEST(Words, TheKernelIsNamedInTheCommandThatMeasuresIt) {
  const std::string cuda = how_to_look_at_a_kernel(kCuda);
  EXPECT_TRUE(has(cuda, "\nncu ") && has(cuda, "regex:fwd_kernel -- ./attention 64")) << cuda;
  const std::string hip = how_to_look_at_a_kernel(kHip);
  EXPECT_TRUE(has(hip, "\nrocprof-compute ") && has(hip, "fwd_kernel -- ./attention 64")) << hip;
  const std::string opencl = how_to_look_at_a_kernel(kOpencl);
  EXPECT_TRUE(has(opencl, "fwd_kernel") && !has(opencl, "\n")) << opencl;
}

TEST(Words, AKernelIsCalledAsProfilersCallIt) {
  EXPECT_EQ(kernel_base_name("void a::(anonymous namespace)::copy<int, b<2>>(int)"), "copy");
  EXPECT_EQ(kernel_base_name("void add<float>(float (*)(float), (anonymous namespace)::T)"), "add");
  EXPECT_EQ(kernel_base_name("volta_sgemm_128x64_nt"), "volta_sgemm_128x64_nt");
  EXPECT_EQ(kernel_base_name("Cijk_Ailk_Bljk_HHS.kd"), "Cijk_Ailk_Bljk_HHS");
  EXPECT_EQ(kernel_base_name("no such name"), "no such name");
  EXPECT_EQ(kernel_base_name(""), "");
  EXPECT_EQ(kernel_base_name("<>"), "<>");
}

TEST(Words, NoTf32ForAGpuThatIsOlder) {
  TraceMaker maker;
  for (int i = 0; i < 20; ++i) {
    maker.op("aten::mm", i * 10 * kUs, 8 * kUs);
    maker.call("cudaLaunchKernel", i * 10 * kUs + kUs, 5 * kUs, i + 1);
    maker.gpu("volta_sgemm_128x64_nt", 300 * kUs + i * kMs, kMs - kUs, i + 1);
  }
  trace::RunInfo run;
  run.devices.push_back({0, "Tesla V100-SXM2-16GB", {}, {}});
  Trace trace = maker.make(run);
  const auto hint = [&] { return hint_with_code(*found_by_rule(suggest(trace), "precision")); };
  ASSERT_NE(found_by_rule(suggest(trace), "precision"), nullptr);
  EXPECT_FALSE(has(hint(), "set_float32_matmul_precision")) << hint();
  EXPECT_TRUE(has(hint(), "torch.float16"));
  trace.run.devices[0].name = "NVIDIA A100-SXM4-40GB";
  EXPECT_TRUE(has(hint(), "set_float32_matmul_precision"));
}

// Twenty steps with a wait in the middle of each, inside `inner`, while the host has work to do.
Suggestions waits_inside(const std::vector<std::string>& around, const std::string& copy = "") {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 20; ++i) {
    maker.call("cudaLaunchKernel", now, 5 * kUs, 2 * i + 1);
    maker.gpu("gemm", now + 9 * kUs, 500 * kUs, 2 * i + 1);
    std::int64_t inset = 0;
    for (const std::string& name : around) {
      maker.op(name, now + 6 * kUs + inset, 520 * kUs - 2 * inset);
      inset += 100;
    }
    if (!copy.empty()) {
      maker.call("cudaMemcpyAsync", now + 8 * kUs, 4 * kUs, 2 * i + 2);
      maker.gpu(copy, now + 510 * kUs, kUs, 2 * i + 2, 7, trace::SpanKind::copy);
    }
    maker.call("cudaStreamSynchronize", now + 13 * kUs, 501 * kUs);
    maker.op("prepare", now + 530 * kUs, 300 * kUs);
    now += 840 * kUs;
  }
  return suggest(maker.make());
}

TEST(Words, AWaitInsideACopyIsAMatterOfPinnedMemory) {
  const Suggestions found = waits_inside({"aten::to", "aten::_to_copy", "aten::copy_"},
                                         "Memcpy HtoD (Pageable -> Device)");
  const Suggestion* one = found_by_rule(found, "sync");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_TRUE(has(hint_with_code(*one), "non_blocking=True"));
  EXPECT_FALSE(has(hint_with_code(*one), "ynchronize")) << hint_with_code(*one);
}

TEST(Words, AWaitInsideItemIsAScalarThatIsRead) {
  const Suggestions found =
      waits_inside({"aten::item", "aten::_local_scalar_dense"}, "Memcpy DtoH (Device -> Pageable)");
  const Suggestion* one = found_by_rule(found, "sync");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_TRUE(has(hint_with_code(*one), "item()"));
}

// The wait takes as long as the copy: it is the bytes that cost, not the reading.
TEST(Words, AWaitForManyBytesIsNotReadingOneByOne) {
  TraceMaker maker;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t now = i * 2 * kMs;
    maker.call("cudaLaunchKernel", now, 5 * kUs, 2 * i + 1);
    maker.gpu("gemm", now + 9 * kUs, 100 * kUs, 2 * i + 1);
    maker.op("aten::to", now + 7 * kUs, 910 * kUs);
    maker.call("cudaMemcpyAsync", now + 8 * kUs, 4 * kUs, 2 * i + 2);
    maker.gpu("Memcpy DtoH (Device -> Pageable)", now + 110 * kUs, 800 * kUs, 2 * i + 2, 7,
              trace::SpanKind::copy);
    maker.bytes(10'000'000);
    maker.call("cudaStreamSynchronize", now + 13 * kUs, 900 * kUs);
    maker.op("prepare", now + 920 * kUs, 1000 * kUs);
  }
  const Suggestions found = suggest(maker.make(), true);
  for (const Suggestion& one : found.list) {
    EXPECT_FALSE(has(one.title, "the host reads them one by one")) << words_of(one);
  }
}

TEST(Words, AnyOtherWaitIsCalledByItsName) {
  const Suggestions found = waits_inside({});
  const Suggestion* one = found_by_rule(found, "sync");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_TRUE(has(hint_with_code(*one), "Keep cudaStreamSynchronize out"));
  EXPECT_FALSE(has(hint_with_code(*one), "clFinish"));
}

// A wait in the middle of a GPU that has all its work queued, and one at the end, cost nothing.
TEST(Words, AWaitThatTheGpuWorksThroughIsNoMatterOfSynchronisation) {
  TraceMaker maker;
  for (int i = 0; i < 40; ++i) {
    maker.call("cudaLaunchKernel", i * 6 * kUs, 5 * kUs, i + 1);
    maker.gpu(i % 2 == 0 ? "a" : "b", 20 * kUs + i * kMs, kMs - kUs, i + 1);
  }
  maker.call("cudaEventSynchronize", 300 * kUs, 20 * kMs);
  maker.call("cudaLaunchKernel", 21 * kMs, 5 * kUs, 41);
  maker.gpu("a", 20 * kUs + 40 * kMs, kMs, 41);
  maker.call("cudaDeviceSynchronize", 22 * kMs, 20 * kMs);
  const Trace trace = maker.make();
  const Suggestions found = suggest(trace, true);
  EXPECT_EQ(found_by_rule(found, "sync"), nullptr) << all_words(found);
}

// The same where the replay is not trusted, and what a suggestion concerns is all that is known.
TEST(Words, NorIsItWithoutATrustedReplay) {
  TraceMaker maker;
  for (int i = 0; i < 10; ++i) {
    maker.call("cudaLaunchKernel", i * 6 * kUs, 5 * kUs, i + 1);
    maker.gpu("late for no reason", 20 * kMs + i * 2 * kMs, kMs, i + 1);
  }
  maker.call("cudaEventSynchronize", 100 * kUs, 21 * kMs);
  maker.call("cudaLaunchKernel", 22 * kMs, 5 * kUs, 11);
  maker.gpu("late for no reason", 40 * kMs, kMs, 11);
  const Suggestions found = suggest(maker.make());
  ASSERT_FALSE(found.has_gains);
  EXPECT_EQ(found_by_rule(found, "sync"), nullptr) << all_words(found);
}

TEST(Words, ALaunchThatSetsUpIsNotShownAsOneThatIsLate) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 4 * kMs, 1);
  maker.gpu("first", 4 * kMs + 5 * kUs, 10 * kUs, 1);
  std::int64_t now = 5 * kMs;
  maker.call("cudaLaunchKernel", now, 3 * kMs, 2);
  maker.gpu("second", now + 3 * kMs + 5 * kUs, 10 * kUs, 2);
  now += 4 * kMs;
  for (int i = 0; i < 100; ++i) {
    maker.op("op", now, 90 * kUs);
    maker.call("cudaLaunchKernel", now + 50 * kUs, 10 * kUs, i + 3);
    maker.gpu(i % 2 == 0 ? "a" : "b", now + 65 * kUs, 10 * kUs, i + 3);
    now += 90 * kUs;
  }
  const Trace trace = maker.make();
  const Suggestions found = suggest(trace);
  const Suggestion* one = found_by_rule(found, "launch");
  ASSERT_NE(one, nullptr);
  for (const trace::SpanId id : one->evidence) {
    EXPECT_LT(trace.spans.duration_ns[id], kMs);
  }
}

// A slow launch of a kernel that ran before does not load its code.
TEST(Words, OnlyTheFirstLaunchOfAKernelIsAFirstUse) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t takes = i == 10 ? 5 * kMs : 5 * kUs;
    maker.call("cudaLaunchKernel", now, takes, i + 1);
    maker.gpu("gemm", now + takes + 4 * kUs, kMs, i + 1);
    maker.call("cudaDeviceSynchronize", now + takes, kMs + 7 * kUs);
    now += takes + kMs + 10 * kUs;
  }
  EXPECT_EQ(found_by_rule(suggest(maker.make()), "setup"), nullptr);
}

// Ten copies that are fine as they are, and ten that are not.
TEST(Words, CopiesThatArePinnedAreNoEvidenceAgainstPageableOnes) {
  const auto copies = [](bool all_pinned) {
    TraceMaker maker;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t at = i * 2 * kMs;
      const bool pinned = all_pinned || i % 2 == 0;
      maker.call("cudaMemcpyAsync", at, pinned ? 5 * kUs : 520 * kUs, 2 * i + 1);
      maker.gpu(pinned ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy HtoD (Pageable -> Device)",
                at + 9 * kUs, 500 * kUs, 2 * i + 1, 7, trace::SpanKind::copy);
      maker.bytes(2'000'000 + i);
      maker.call("cudaLaunchKernel", at + 530 * kUs, 5 * kUs, 2 * i + 2);
      maker.gpu("gemm", at + 540 * kUs, 1400 * kUs, 2 * i + 2);
      maker.op("next", at + 540 * kUs, 1455 * kUs);
    }
    return maker.make();
  };
  const Trace mixed = copies(false);
  const Suggestions found = suggest(mixed, true);
  const auto pins = std::find_if(found.list.begin(), found.list.end(), [](const Suggestion& one) {
    return has(one.title, "from pinned memory");
  });
  ASSERT_NE(pins, found.list.end()) << all_words(found);
  for (const trace::SpanId id : pins->evidence) {
    EXPECT_EQ(mixed.name(id), "Memcpy HtoD (Pageable -> Device)");
  }
  const Suggestions pinned = suggest(copies(true), true);
  ASSERT_NE(found_by_rule(pinned, "copies"), nullptr) << all_words(pinned);
  EXPECT_FALSE(has(found_by_rule(pinned, "copies")->title, "pinned"));
}

TEST(Words, OfCopiesToTheHostTheDestinationIsToBePinned) {
  TraceMaker maker;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t at = i * 2 * kMs;
    maker.call("cudaLaunchKernel", at, 5 * kUs, 2 * i + 1);
    maker.gpu("gemm", at + 10 * kUs, 1400 * kUs, 2 * i + 1);
    maker.call("cudaMemcpy", at + 10 * kUs, 1920 * kUs, 2 * i + 2);
    maker.gpu("Memcpy DtoH (Device -> Pageable)", at + 1420 * kUs, 500 * kUs, 2 * i + 2, 7,
              trace::SpanKind::copy);
    maker.bytes(2'000'000);
  }
  const Suggestions found = suggest(maker.make(), true);
  const Suggestion* one = found_by_rule(found, "copies");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_TRUE(has(one->title, "into pinned memory")) << one->title;
  EXPECT_TRUE(has(one->description, "10 copies to the host of 1 MB or more took 5.0 ms (4.0 GB/s)"))
      << one->description;
  EXPECT_TRUE(has(one->implementation_hint, "Copy into pinned host memory without blocking"));
}

// Views cannot go to another thread, or to the GPU.
TEST(Words, AnOperationThatMakesViewsShouldReuseThem) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    maker.op("aten::unflatten_dense_tensors", now, 5 * kMs);
    for (int view = 0; view < 100; ++view) {
      maker.op("aten::narrow", now + view * 50 * kUs, 40 * kUs);
      maker.op("aten::view", now + view * 50 * kUs + kUs, 30 * kUs);
    }
    maker.call("cudaLaunchKernel", now + 5 * kMs, 5 * kUs, i + 1);
    maker.gpu("gemm", now + 5 * kMs + 9 * kUs, kMs, i + 1);
    maker.call("cudaDeviceSynchronize", now + 5 * kMs + 5 * kUs, kMs + 7 * kUs);
    now += 6 * kMs + 20 * kUs;
  }
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "idle");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->title, "Reuse the views that aten::unflatten_dense_tensors makes");
  EXPECT_FALSE(has(hint_with_code(*one), "another thread")) << hint_with_code(*one);
}

}  // namespace fathom::advise::words_test
