#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "advise/preparation.h"
#include "advise/said.h"
#include "analyze/run/gpu_shares.h"
#include "analyze/trace_maker.h"

// The rules about the host: what sets each of them off, and when it must say nothing.
namespace fathom::advise::host_rules_test {

using analyze::TraceMaker;
using trace::SpanKind;
using trace::Trace;

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

// Launches that are `apart` from each other, each of a kernel of `kernel_ns`, within an operation.
struct Launches {
  std::string operation = "aten::mul";
  std::string kernel = "mul_kernel";
  int count = 200;
  std::int64_t apart = 60 * kUs;
  std::int64_t kernel_ns = 5 * kUs;
  std::int64_t begin = 0;
};

void launch_all(TraceMaker& maker, const Launches& how) {
  std::int64_t gpu = 0;
  for (int i = 0; i < how.count; ++i) {
    const std::int64_t at = how.begin + i * how.apart;
    maker.op(how.operation, at, how.apart - kUs);
    maker.call("cudaLaunchKernel", at + how.apart / 2, 5 * kUs, i + 1);
    gpu = std::max(gpu + kUs, at + how.apart / 2 + 9 * kUs);
    maker.gpu(how.kernel + (i % 2 == 0 ? "_a" : "_b"), gpu, how.kernel_ns, i + 1);
    gpu += how.kernel_ns;
  }
}

TEST(LaunchRule, ARunBoundByItsLaunchesIsToBeCapturedAsAGraph) {
  TraceMaker maker;
  launch_all(maker, {});
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "launch");
  ASSERT_TRUE(one != nullptr && one->gain) << all_words(found);
  EXPECT_EQ(one->title, "Launch less: compile the model or replay it as a graph");
  EXPECT_TRUE(has(one->description, "200 launches, 60.0 µs apart; a kernel takes 5.0 µs (medians)"))
      << one->description;
  EXPECT_TRUE(has(one->expected_improvement, "in a fifth of the time"));
  // Of 60 µs, 50, 80 and 100 % of what the host does goes, but for what the GPU needs.
  EXPECT_NEAR(static_cast<double>(one->gain->low_ns), 200 * 30e3, 200 * 2e3);
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 200 * 48e3, 200 * 2e3);
  EXPECT_GT(one->gain->high_ns, one->gain->mid_ns);
}

TEST(LaunchRule, AGpuThatRunsOutOfWorkInPlacesIsNotBoundByItsLaunches) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 100; ++i) {
    maker.op("aten::mm", now, 780 * kUs);
    maker.call("cudaLaunchKernel", now, 5 * kUs, 2 * i + 1);
    maker.gpu("gemm", now + 9 * kUs, 800 * kUs, 2 * i + 1);
    maker.op("Optimizer.step#Muon.step", now + 780 * kUs, 160 * kUs);
    maker.call("cudaLaunchKernel", now + 900 * kUs, 5 * kUs, 2 * i + 2);
    maker.gpu("update", now + 909 * kUs, 20 * kUs, 2 * i + 2);
    now += 940 * kUs;
  }
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "launch");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_EQ(one->title, "Launch sooner: the GPU runs out of work in places");
  EXPECT_TRUE(has(one->description, "is in Optimizer.step#Muon.step")) << one->description;
}

TEST(LaunchRule, VllmIsToldAboutItsOwnOptions) {
  TraceMaker maker;
  launch_all(maker, {.operation = "vllm::moe_forward"});
  maker.op("aten::mm", 20 * kMs, kUs, 2);
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "launch");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->title, "Let vLLM replay graphs: it runs eagerly");
  EXPECT_TRUE(has(hint_with_code(*one), "--enforce-eager"));
  EXPECT_FALSE(has(all_words(found), "torch.compile")) << all_words(found);
}

TEST(LaunchRule, SglangIsToldAboutItsOwnOptions) {
  TraceMaker maker;
  launch_all(maker, {});
  maker.op("/workspace/sglang/srt/model_executor/model_runner.py(12): forward", 0, 13 * kMs, 2,
           SpanKind::python);
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "launch");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->title, "Let SGLang replay graphs: it runs eagerly");
  EXPECT_TRUE(has(hint_with_code(*one), "--disable-cuda-graph"));
}

TEST(LaunchRule, AServerThatReplaysGraphsDoesNotRunEagerly) {
  TraceMaker maker;
  launch_all(maker, {.operation = "vllm::moe_forward"});
  maker.call("cudaGraphLaunch", 13 * kMs, 20 * kUs, 900);
  maker.gpu("attention", 13 * kMs + 30 * kUs, 50 * kUs, 900);
  EXPECT_FALSE(has(all_words(suggest(maker.make())), "eager"));
}

// A server of a model in graphs that handles each answer before it launches the next.
TEST(LaunchRule, AProgramThatReplaysGraphsIsNotToCaptureThem) {
  TraceMaker maker;
  maker.op("aten::mm", 0, kUs, 2);
  for (int i = 0; i < 50; ++i) {
    const std::int64_t now = i * 1000 * kUs;
    maker.call("cudaGraphLaunch", now, 30 * kUs, i + 1);
    for (int kernel = 0; kernel < 50; ++kernel) {
      maker.gpu("gemm_" + std::to_string(kernel % 2), now + 40 * kUs + kernel * 6 * kUs, 5 * kUs,
                i + 1);
    }
    maker.call("cudaStreamSynchronize", now + 30 * kUs, 314 * kUs);
    maker.op("server.py(88): detokenize", now + 350 * kUs, 640 * kUs, 1, SpanKind::python);
  }
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "launch");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_EQ(one->title, "Launch the next graph before handling what this one computed");
  EXPECT_FALSE(has(all_words(found), "torch.compile")) << all_words(found);
}

TEST(LaunchRule, CompiledCodeIsToBeCapturedUnlessItIs) {
  const Launches compiled = {.operation = "## Call CompiledFxGraph fud64jsrx ##"};
  TraceMaker plain;
  launch_all(plain, compiled);
  plain.op("aten::mm", 20 * kMs, kUs, 2);
  const Suggestions found = suggest(plain.make());
  ASSERT_NE(found_by_rule(found, "launch"), nullptr);
  EXPECT_EQ(found_by_rule(found, "launch")->title, "Capture the compiled code as graphs");
  EXPECT_TRUE(has(hint_with_code(*found_by_rule(found, "launch")), "reduce-overhead"));

  TraceMaker captured;
  launch_all(captured, compiled);
  captured.op("aten::mm", 20 * kMs, kUs, 2);
  captured.call("cudaGraphLaunch", 13 * kMs, 20 * kUs, 900);
  captured.gpu("mm", 13 * kMs + 30 * kUs, 50 * kUs, 900);
  EXPECT_FALSE(has(all_words(suggest(captured.make())), "Capture the compiled code"));
}

TEST(LaunchRule, CompiledCodeForManyShapesNeedsFewerShapesFirst) {
  TraceMaker maker;
  for (int i = 0; i < 200; ++i) {
    maker.op("aten::mul", i * 60 * kUs, 59 * kUs);
    maker.call("cuLaunchKernel", i * 60 * kUs + 30 * kUs, 5 * kUs, i + 1);
    maker.gpu(i % 2 == 0 ? "triton_poi_fused_mul_0" : "triton_poi_fused_add_1",
              i * 60 * kUs + 39 * kUs, 5 * kUs, i + 1);
    maker.shaped("grid " + std::to_string(i) + "x1x1, block 256x1x1");
  }
  const Suggestions found = suggest(maker.make());
  ASSERT_NE(found_by_rule(found, "launch"), nullptr);
  EXPECT_TRUE(has(found_by_rule(found, "launch")->title, "Pad inputs to a few sizes"));
}

// Ten steps of 20 ms that begin with `begin_ns` of Python, in which nothing else happens.
TraceMaker steps_that_begin_with(const std::vector<std::string>& frames, std::int64_t begin_ns) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    maker.step("ProfilerStep#" + std::to_string(i), now, begin_ns + 6 * kMs);
    for (std::size_t depth = 0; depth < frames.size(); ++depth) {
      const auto inset = static_cast<std::int64_t>(depth) * 100;
      maker.op(frames[depth], now + inset, begin_ns - 2 * inset, 1, SpanKind::python);
    }
    maker.op("aten::mm", now + begin_ns, 20 * kUs);
    maker.call("cudaLaunchKernel", now + begin_ns + kUs, 5 * kUs, i + 1);
    maker.gpu("gemm", now + begin_ns + 10 * kUs, 5 * kMs, i + 1);
    maker.call("cudaDeviceSynchronize", now + begin_ns + 30 * kUs, 4983 * kUs);
    now += begin_ns + 6 * kMs;
  }
  return maker;
}

TEST(PreparationRule, WhatTheCpuPreparesBeforeTheFirstWorkCountsToo) {
  const Suggestions found = suggest(steps_that_begin_with({"app.py(3): load",
                                                           "transformers/image_transforms.py(390): "
                                                           "normalize"},
                                                          15 * kMs)
                                        .make());
  ASSERT_FALSE(found.list.empty());
  const Suggestion& one = found.list.front();
  EXPECT_EQ(one.rule, "preparation") << all_words(found);
  EXPECT_EQ(one.operation, "app.py(3): load");
  EXPECT_TRUE(has(one.description, "most of it in normalize")) << one.description;
  EXPECT_TRUE(has(hint_with_code(one), "AutoImageProcessor"));
  // 90 % of 150 ms.
  EXPECT_NEAR(static_cast<double>(one.gain->mid_ns), 135e6, 2e6);
}

TEST(PreparationRule, OtherLibrariesGetOtherWords) {
  const Suggestions found =
      suggest(steps_that_begin_with({"PIL/Image.py(2215): resize"}, 15 * kMs).make());
  ASSERT_NE(found_by_rule(found, "preparation"), nullptr) << all_words(found);
  EXPECT_FALSE(has(all_words(found), "AutoImageProcessor"));
}

TEST(PreparationRule, JaxGetsNothingOfPytorch) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    maker.op("PIL/Image.py(2215): resize", now, 15 * kMs, 1, SpanKind::python);
    maker.op("PjitFunction(step)", now + 15 * kMs, 20 * kUs, 1, SpanKind::annotation);
    maker.call("cuLaunchKernel", now + 15 * kMs + kUs, 5 * kUs, i + 1);
    maker.gpu("fusion", now + 15 * kMs + 10 * kUs, 5 * kMs, i + 1);
    maker.call("cuCtxSynchronize", now + 15 * kMs + 30 * kUs, 4983 * kUs);
    now += 21 * kMs;
  }
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "preparation");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_FALSE(has(hint_with_code(*one), "torch")) << hint_with_code(*one);
  EXPECT_TRUE(has(hint_with_code(*one), "jax.image.resize")) << hint_with_code(*one);
}

TEST(PreparationRule, NotOfShortGapsNorOfADataLoaderNorOfOtherCode) {
  const auto says = [](const std::vector<std::string>& frames, std::int64_t begin_ns) {
    return found_by_rule(suggest(steps_that_begin_with(frames, begin_ns).make(), true),
                         "preparation") != nullptr;
  };
  EXPECT_FALSE(says({"PIL/Image.py(2215): resize"}, 5 * kMs));
  EXPECT_FALSE(says(
      {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "PIL/Image.py(2215): resize"},
      15 * kMs));
  EXPECT_FALSE(says({"app.py(3): plan"}, 15 * kMs));
}

TEST(PreparationRule, FunctionsAreKnownByTheirPackage) {
  for (const char* name :
       {"PIL/Image.py(2215): resize", "numpy/core/shape_base.py(372): stack",
        "<built-in method astype of numpy.ndarray object at 0x7f>",
        "<built-in method to_ndarray of av.video.frame.VideoFrame object at 0x7f>",
        "<built-in method decode of ImagingDecoder object at 0x7f>",
        "transformers/models/videomae/image_processing_videomae.py(235): preprocess"}) {
    EXPECT_TRUE(prepares_data(name)) << name;
  }
  for (const char* name : {"torch/nn/modules/module.py(1743): _call_impl", "grav/model.py(1): run",
                           "<built-in function len>", "vllm/v1/utils.py(12): copy"}) {
    EXPECT_FALSE(prepares_data(name)) << name;
  }
  EXPECT_EQ(short_function_name("a/b.py(390): normalize"), "normalize");
  EXPECT_EQ(short_function_name("<built-in method astype of numpy.ndarray object at 0x7f>"),
            "astype");
  EXPECT_EQ(short_function_name("<built-in function array>"), "array");
}

// Steps of 2 ms of work, each after loading for as long as given.
Suggestions loads_of(const std::string& name, const std::vector<std::int64_t>& loads) {
  TraceMaker maker;
  std::int64_t now = 0;
  std::int64_t correlation = 0;
  for (const std::int64_t load : loads) {
    maker.op(name, now, load, 1, SpanKind::annotation);
    maker.op("aten::mm", now + load, 2 * kMs);
    maker.call("cudaLaunchKernel", now + load, 5 * kUs, ++correlation);
    maker.gpu("gemm", now + load + 9 * kUs, 2 * kMs, correlation);
    now += load + 2 * kMs;
  }
  return suggest(maker.make(), true);
}

const char* const kOneProcess = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
const char* const kWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

TEST(InputRule, ALoaderThatIsAskedOnceHasNothingToLoadAheadOf) {
  EXPECT_EQ(found_by_rule(loads_of(kOneProcess, {8 * kMs}), "input"), nullptr);
  EXPECT_NE(found_by_rule(loads_of(kOneProcess, {8 * kMs, 8 * kMs, 8 * kMs}), "input"), nullptr);
}

TEST(InputRule, StartingTheWorkersIsSetUp) {
  const Suggestions only_first = loads_of(kWorkers, {90 * kMs, 100 * kUs, 100 * kUs, 100 * kUs});
  EXPECT_EQ(found_by_rule(only_first, "input"), nullptr) << all_words(only_first);
  const Suggestions found = loads_of(kWorkers, {90 * kMs, 5 * kMs, 5 * kMs, 5 * kMs});
  ASSERT_NE(found_by_rule(found, "input"), nullptr);
  EXPECT_TRUE(has(found_by_rule(found, "input")->title, "the workers do not keep up"));
  EXPECT_TRUE(has(found_by_rule(found, "input")->description, "15.0 ms in 3 calls"))
      << found_by_rule(found, "input")->description;
}

// Twenty steps: a kernel, then a copy whose call returns when it is over, then `pause` of the host.
Suggestions blocking_copies(const std::string& copy, std::int64_t bytes, std::int64_t copy_ns,
                            std::int64_t pause) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 20; ++i) {
    maker.op("aten::mm", now, 8 * kUs);
    maker.call("cudaLaunchKernel", now, 5 * kUs, 2 * i + 1);
    maker.gpu("gemm", now + 9 * kUs, 500 * kUs, 2 * i + 1);
    maker.call("cudaMemcpy", now + 10 * kUs, 505 * kUs + copy_ns, 2 * i + 2);
    maker.gpu(copy, now + 511 * kUs, copy_ns, 2 * i + 2, 7, SpanKind::copy);
    maker.bytes(bytes);
    maker.op("prepare", now + 520 * kUs + copy_ns, pause);
    now += 530 * kUs + copy_ns + pause;
  }
  return suggest(maker.make(), true);
}

TEST(SyncRule, ReadingOneResultAfterAnotherIsSaidToBeThat) {
  const Suggestions found =
      blocking_copies("Memcpy DtoH (Device -> Pageable)", 4, 2 * kUs, 300 * kUs);
  const Suggestion* one = found_by_rule(found, "sync");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_TRUE(has(one->title, "Keep results on the GPU")) << one->title;
  ASSERT_TRUE(one->gain);
  EXPECT_EQ(one->gain->low_ns, 0);
  // Every second one of 20 pauses can be hidden, but for the last.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 10 * 305e3, 2 * 305e3);
}

TEST(SyncRule, ALongCopyIsAMatterOfItsBytesNotOfReading) {
  const Suggestions found =
      blocking_copies("Memcpy DtoH (Device -> Pageable)", 4'000'000, 400 * kUs, 300 * kUs);
  EXPECT_EQ(found_by_rule(found, "sync"), nullptr) << all_words(found);
}

// What the wait costs is what the GPU is idle for afterwards, and not how long the host waited.
TEST(SyncRule, ReadingThatTheGpuHardlyNoticesIsNotWorthASentence) {
  Suggestions found = blocking_copies("Memcpy DtoH (Device -> Pageable)", 4, 2 * kUs, 5 * kUs);
  std::erase_if(found.list, [](const Suggestion& one) { return one.gain_pct < kWorthPct; });
  EXPECT_EQ(found_by_rule(found, "sync"), nullptr) << all_words(found);
}

TEST(SyncRule, SingleValuesAreToBeMadeOnTheGpu) {
  const auto uploads = [](std::int64_t bytes) {
    TraceMaker maker;
    std::int64_t now = 0;
    for (int i = 0; i < 20; ++i) {
      maker.op("aten::mm", now, 8 * kUs);
      maker.call("cudaLaunchKernel", now, 5 * kUs, 2 * i + 1);
      maker.gpu("gemm", now + 9 * kUs, 500 * kUs, 2 * i + 1);
      maker.op("aten::to", now + 9 * kUs, 510 * kUs);
      maker.call("cudaMemcpyAsync", now + 10 * kUs, 4 * kUs, 2 * i + 2);
      maker.gpu("Memcpy HtoD (Pageable -> Device)", now + 511 * kUs, kUs, 2 * i + 2, 7,
                SpanKind::copy);
      maker.bytes(bytes);
      maker.call("cudaStreamSynchronize", now + 15 * kUs, 500 * kUs);
      maker.op("prepare", now + 520 * kUs, 300 * kUs);
      now += 830 * kUs;
    }
    return suggest(maker.make());
  };
  const Suggestions found = uploads(8);
  const Suggestion* one = found_by_rule(found, "sync");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_EQ(one->title, "Create single values on the GPU instead of uploading them");
  EXPECT_TRUE(has(hint_with_code(*one), "torch.full((), x, device=\"cuda\")"));
  EXPECT_FALSE(has(hint_with_code(*one), "pin")) << hint_with_code(*one);
  const Suggestions more = uploads(4096);
  ASSERT_NE(found_by_rule(more, "sync"), nullptr);
  EXPECT_FALSE(has(found_by_rule(more, "sync")->title, "single values"));
}

TEST(SmallBatchRule, MostKernelsAreTooShortToFillAGpu) {
  const auto of = [](std::int64_t kernel_ns, const std::string& operation) {
    TraceMaker maker;
    launch_all(maker, {.operation = operation, .kernel_ns = kernel_ns});
    maker.op("aten::mm", 20 * kMs, kUs, 2);
    return suggest(maker.make());
  };
  const Suggestions found = of(5 * kUs, "aten::mul");
  const Suggestion* one = found_by_rule(found, "small_batch");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_FALSE(one->gain);
  EXPECT_TRUE(has(one->expected_improvement, "No step gets shorter"));
  EXPECT_EQ(found_by_rule(of(30 * kUs, "aten::mul"), "small_batch"), nullptr);
  EXPECT_EQ(found_by_rule(of(5 * kUs, "vllm::moe_forward"), "small_batch"), nullptr);
}

// A step of a compiled function: copies of its inputs, then a graph, or kernels one by one.
Suggestions compiled_steps(const std::string& launch) {
  TraceMaker maker;
  std::int64_t now = 0;
  std::int64_t correlation = 0;
  for (int i = 0; i < 10; ++i) {
    maker.op("CompiledFunction", now, 400 * kUs);
    for (int copy = 0; copy < 5; ++copy) {
      const std::int64_t at = now + copy * 20 * kUs;
      maker.op("aten::copy_", at, 10 * kUs);
      maker.call("cudaMemcpyAsync", at + kUs, 5 * kUs, ++correlation);
      maker.gpu("Memcpy DtoD (Device -> Device)", now + 10 * kUs + copy * 101 * kUs, 100 * kUs,
                correlation, 7, SpanKind::copy);
    }
    maker.call(launch, now + 110 * kUs, 10 * kUs, ++correlation);
    maker.gpu("model", now + 516 * kUs, 1000 * kUs, correlation);
    maker.op("aten::mm", now + 410 * kUs, 5 * kUs);
    now += 1510 * kUs;
  }
  return suggest(maker.make());
}

TEST(GraphInputsRule, InputsOfAGraphAreToStayInPlace) {
  const Suggestions found = compiled_steps("cudaGraphLaunch");
  const Suggestion* one = found_by_rule(found, "graph_inputs");
  ASSERT_TRUE(one != nullptr && one->gain) << all_words(found);
  EXPECT_TRUE(has(one->description, "50 copies on the GPU inside compiled functions take 5.0 ms"));
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 5e6, 0.5e6);
}

TEST(GraphInputsRule, WithoutAGraphACopyIsAPartOfTheModel) {
  EXPECT_EQ(found_by_rule(compiled_steps("cudaLaunchKernel"), "graph_inputs"), nullptr);
}

// Ten steps in which memory is freed and allocated before 0.5 ms of work is launched.
TEST(AllocationsRule, MemoryThatIsFreedAndTakenAgainCosts) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    maker.step("ProfilerStep#" + std::to_string(i), now, 1005 * kUs);
    maker.call("cudaFree", now, 400 * kUs);
    maker.call("cudaMalloc", now + 400 * kUs, 400 * kUs);
    maker.op("aten::mm", now + 800 * kUs, 200 * kUs);
    maker.call("cudaLaunchKernel", now + 990 * kUs, 5 * kUs, i + 1);
    maker.gpu(i % 2 == 0 ? "a" : "b", now + 1000 * kUs, 500 * kUs, i + 1);
    now += 1005 * kUs;
  }
  const Suggestions found = suggest(maker.make());
  const Suggestion* one = found_by_rule(found, "allocations");
  ASSERT_TRUE(one != nullptr && one->gain) << all_words(found);
  EXPECT_TRUE(has(one->description, "18 calls took 7.2 ms")) << one->description;
  EXPECT_TRUE(has(hint_with_code(*one), "expandable_segments:True"));
  // The GPU needs 0.5 ms per step, and so 0.5 ms of each can go.
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 9 * 500e3, 0.7e6);
}

TEST(AllocationsRule, TakingMemoryForTheFirstTimeIsSetUp) {
  TraceMaker maker;
  maker.call("cudaFree", 0, 250 * kMs);  // creates the context
  std::int64_t now = 250 * kMs;
  for (int i = 0; i < 20; ++i) {
    maker.call("cudaMalloc", now, 300 * kUs);
    maker.op("aten::mm", now + 300 * kUs, 8 * kUs);
    maker.call("cudaLaunchKernel", now + 300 * kUs, 5 * kUs, i + 1);
    maker.gpu("gemm", now + 309 * kUs, 2 * kMs, i + 1);
    maker.call("cudaDeviceSynchronize", now + 308 * kUs, 2004 * kUs);
    now += 2320 * kUs;
  }
  const Suggestions found = suggest(maker.make(), true);
  EXPECT_EQ(found_by_rule(found, "allocations"), nullptr) << all_words(found);
  const Suggestion* set_up = found_by_rule(found, "setup");
  ASSERT_NE(set_up, nullptr);
  EXPECT_FALSE(set_up->gain);
  EXPECT_TRUE(has(set_up->expected_improvement, "Saves nothing"));
}

TEST(ZeroFillsRule, GradientsAreSetToNoneInstead) {
  const auto clears = [](const std::string& range) {
    TraceMaker maker;
    std::int64_t now = 0;
    std::int64_t correlation = 0;
    for (int i = 0; i < 10; ++i) {
      maker.op(range, now, 1010 * kUs, 1, SpanKind::annotation);
      for (int fill = 0; fill < 20; ++fill) {
        maker.op("aten::zero_", now + fill * 50 * kUs, 48 * kUs);
        maker.call("cudaLaunchKernel", now + fill * 50 * kUs + 20 * kUs, 5 * kUs, ++correlation);
        maker.gpu("fill", now + fill * 50 * kUs + 29 * kUs, 2 * kUs, correlation);
      }
      maker.op("AddBackward0", now + 1010 * kUs, 10 * kUs);
      maker.call("cudaLaunchKernel", now + 1012 * kUs, 5 * kUs, ++correlation);
      maker.gpu("gemm", now + 1021 * kUs, 3 * kMs, correlation);
      maker.call("cudaDeviceSynchronize", now + 1020 * kUs, 3004 * kUs);
      now += 4030 * kUs;
    }
    return suggest(maker.make());
  };
  const Suggestions found = clears("Optimizer.zero_grad#SGD.zero_grad");
  const Suggestion* one = found_by_rule(found, "zero_fills");
  ASSERT_TRUE(one != nullptr && one->gain) << all_words(found);
  EXPECT_TRUE(has(one->description, "zero_grad launched 200 fills"));
  EXPECT_TRUE(has(hint_with_code(*one), "set_to_none=True"));
  EXPECT_NEAR(static_cast<double>(one->gain->mid_ns), 10 * 1010e3, 5e5);
  EXPECT_EQ(found_by_rule(clears("## init buffers ##"), "zero_fills"), nullptr);
}

TEST(StacksRule, RecordingManyStacksMakesIdleTimeAnUpperBound) {
  const auto with_frames = [](int frames, std::int64_t apart) {
    TraceMaker maker;
    launch_all(maker, {.apart = apart});
    for (int i = 0; i < 200 * frames; ++i) {
      maker.op("torch/nn/modules/module.py(1743): _call_impl", i * apart / frames,
               apart / frames - 100, 1, SpanKind::python);
    }
    return suggest(maker.make());
  };
  const Suggestions found = with_frames(5, 60 * kUs);  // 83 per ms
  const Suggestion* one = found_by_rule(found, "stacks");
  ASSERT_NE(one, nullptr) << all_words(found);
  EXPECT_FALSE(one->gain);
  EXPECT_TRUE(has(one->description, "1,000 functions of Python were recorded, 83 per millisecond"))
      << one->description;
  ASSERT_NE(found_by_rule(found, "launch"), nullptr);
  EXPECT_TRUE(has(found_by_rule(found, "launch")->description, "Stacks were recorded"));
  EXPECT_EQ(found_by_rule(with_frames(2, 60 * kUs), "stacks"), nullptr);  // 33 per ms
}

// Whoever recorded the stacks is told how to leave them out.
TEST(StacksRule, NamesTheProfilerThatRecordedThem) {
  const auto hint_of = [](const std::string& function, const char* format = "") {
    TraceMaker maker;
    for (int i = 0; i < 200; ++i) {
      maker.call("cudaLaunchKernel", i * 60 * kUs + 50 * kUs, 5 * kUs, i + 1);
      maker.gpu(i % 2 == 0 ? "a" : "b", i * 60 * kUs + 59 * kUs, 10 * kUs, i + 1);
    }
    for (int i = 0; i < 1'000; ++i) {
      maker.op(function, i * 12 * kUs, 11 * kUs, 1, SpanKind::python);
    }
    trace::RunInfo run;
    run.format = format;
    const Suggestions found = suggest(maker.make(run));
    const Suggestion* one = found_by_rule(found, "stacks");
    return one == nullptr ? std::string() : hint_with_code(*one);
  };
  EXPECT_TRUE(has(hint_of("torch/nn/modules/module.py(1): f"), "torch.profiler.profile("));
  const std::string vllm = hint_of("vllm/v1/worker/gpu_model_runner.py(1): f");
  EXPECT_TRUE(has(vllm, "--profiler-config.torch_profiler_with_stack=false")) << vllm;
  EXPECT_FALSE(has(vllm, "torch.profiler")) << vllm;
  EXPECT_TRUE(has(hint_of("/w/sglang/srt/server.py(1): f"), "/start_profile"));
  const std::string jax = hint_of("/lib/jax/_src/api.py(1): f");
  EXPECT_TRUE(has(jax, "python_tracer_level = 0") && !has(jax, "torch")) << jax;
  const std::string other = hint_of("main.py(1): f");
  EXPECT_FALSE(has(other, "torch") || has(other, "jax")) << other;
  EXPECT_EQ(hint_of("main.py(1): f", "Fathom run"), "") << "sampled from outside";
}

// The GPU worked on what was launched before the recording began, so it did not wait for the host.
TEST(StacksRule, TimeInWhichTheGpuRanWhatWasNotRecordedIsNotIdle) {
  TraceMaker maker;
  for (int i = 0; i < 1'000; ++i) {
    maker.op("torch/nn/modules/module.py(1743): _call_impl", i * 6 * kUs, 5 * kUs, 1,
             SpanKind::python);
  }
  maker.call("cudaGraphLaunch", 300 * kUs, 5 * kUs, 1);
  for (int i = 0; i < 100; ++i) {
    maker.gpu(i % 2 == 0 ? "a" : "b", 6 * kMs + i * 100 * kUs, 99 * kUs, 1);
  }
  const Suggestions found = suggest(maker.make());
  EXPECT_NE(found_by_rule(found, "excerpt"), nullptr) << all_words(found);
  EXPECT_EQ(found_by_rule(found, "stacks"), nullptr) << all_words(found);
}

TEST(QueuedRule, AnIdleGpuWithWorkInItsQueueWaitsForSomethingElse) {
  TraceMaker maker;
  for (int i = 0; i < 20; ++i) {
    maker.call("cudaLaunchKernel", i * 10 * kUs, 5 * kUs, i + 1);
    maker.gpu(i % 2 == 0 ? "a" : "b", 300 * kUs + i * 2 * kMs, kMs, i + 1);
  }
  const Suggestions found = suggest(maker.make());
  ASSERT_FALSE(found.list.empty());
  const Suggestion& one = found.list.front();
  EXPECT_EQ(one.rule, "queued") << all_words(found);
  EXPECT_FALSE(one.gain);
  EXPECT_TRUE(has(one.description, "in 19 gaps")) << one.description;
  EXPECT_TRUE(has(one.description, "were in the queue"));
  EXPECT_EQ(found_by_rule(found, "launch"), nullptr);
}

// Nodes of a graph are shown by nsys, where there is one for the GPU; and no program is a script.
TEST(QueuedRule, NamesAProfilerThatThePlatformHas) {
  const auto hint_of = [](const std::string& launch, const char* command) {
    TraceMaker maker;
    for (int i = 0; i < 20; ++i) {
      maker.call(launch, i * 10 * kUs, 5 * kUs, i + 1);
      maker.gpu(i % 2 == 0 ? "a" : "b", 300 * kUs + i * 2 * kMs, kMs, i + 1);
    }
    trace::RunInfo run;
    run.command = command;
    const Suggestions found = suggest(maker.make(run));
    const Suggestion* one = found_by_rule(found, "queued");
    return one == nullptr ? std::string() : hint_with_code(*one);
  };
  const std::string cuda = hint_of("cudaGraphLaunch", "./solver 64");
  EXPECT_TRUE(has(cuda, "\nnsys profile") && has(cuda, "-o run ./solver 64")) << cuda;
  EXPECT_TRUE(has(hint_of("cudaGraphLaunch", ""), "-o run PROGRAM"));
  const std::string hip = hint_of("hipGraphLaunch", "./solver 64");
  EXPECT_TRUE(has(hip, "record once without graphs.") && !has(hip, "nsys")) << hip;
}

// The headline and the rule count the same work as queued.
TEST(QueuedRule, CountsTheQueueAsTheHeadlineDoes) {
  TraceMaker maker;
  for (int i = 0; i < 20; ++i) {
    maker.call("cudaLaunchKernel", i * 10 * kUs, 5 * kUs, i + 1);
    maker.gpu("a", 300 * kUs + i * 2 * kMs + (i > 4 ? 9 * kMs : 0), kMs, i + 1);
  }
  // Launched while the GPU waits.
  for (int i = 20; i < 30; ++i) {
    maker.call("cudaLaunchKernel", 10 * kMs + i * 10 * kUs, 5 * kUs, i + 1);
    maker.gpu("b", 300 * kUs + i * 2 * kMs + 9 * kMs, kMs, i + 1);
  }
  const Trace trace = maker.make();
  const analyze::GpuWork work = analyze::gpu_work(trace);
  const analyze::RunShares run = run_shares(trace, work, analyze::wall(trace, work, {}), {});
  EXPECT_EQ(run.gpus.front().idle_by(analyze::IdleCause::not_recorded).queued, 25U);
  const Suggestions found = suggest(trace);
  ASSERT_NE(found_by_rule(found, "queued"), nullptr) << all_words(found);
  EXPECT_TRUE(has(found_by_rule(found, "queued")->description, "25 pieces of work were"))
      << all_words(found);
}

TEST(QueuedRule, WorkThatWasLaunchedLateWaitedForItsLaunch) {
  TraceMaker maker;
  launch_all(maker, {});
  EXPECT_EQ(found_by_rule(suggest(maker.make(), true), "queued"), nullptr);
}

TEST(SetUpRule, CreatingAContextIsNeverASavingAndNoPartOfTheRun) {
  TraceMaker maker;
  maker.call("cudaFree", 0, 700 * kMs);
  launch_all(maker, {.begin = 700 * kMs});
  const Suggestions found = suggest(maker.make(), true);
  const Suggestion* launch = found_by_rule(found, "launch");
  ASSERT_TRUE(launch != nullptr && launch->gain) << all_words(found);
  EXPECT_GT(launch->gain_pct, 50);  // of 12 ms, not of 712
  const Suggestion* set_up = found_by_rule(found, "setup");
  ASSERT_NE(set_up, nullptr);
  EXPECT_FALSE(set_up->gain);
  EXPECT_TRUE(has(set_up->description, "1 call took 700.0 ms")) << set_up->description;
}

TEST(SetUpRule, TheFirstLaunchOfAKernelIsNotAReasonToWarmUpAnOperation) {
  TraceMaker maker;
  std::int64_t now = 0;
  for (int i = 0; i < 40; ++i) {
    const std::int64_t takes = i == 0 ? 5 * kMs : 60 * kUs;
    maker.op("aten::addmm", now, takes);
    maker.call("cudaLaunchKernel", now + takes - 10 * kUs, 5 * kUs, i + 1);
    maker.gpu("gemm", now + takes, 300 * kUs, i + 1);
    maker.call("cudaDeviceSynchronize", now + takes, 303 * kUs);
    now += takes + 310 * kUs;
  }
  const Suggestions found = suggest(maker.make(), true);
  EXPECT_EQ(found_by_rule(found, "idle"), nullptr) << all_words(found);
  EXPECT_FALSE(has(all_words(found), "arm up")) << all_words(found);
}

TEST(Worth, LessThanTheReplayCanBeTrustedToIsShownOnRequestOnly) {
  TraceMaker maker;  // one of 20 pauses of 0.4 ms in 60 ms: 0.7 % each
  std::int64_t now = 0;
  for (int i = 0; i < 20; ++i) {
    maker.call("cudaLaunchKernel", now, 5 * kUs, i + 1);
    maker.gpu(i % 2 == 0 ? "a" : "b", now + 9 * kUs, 3 * kMs, i + 1);
    const std::int64_t pause = i == 10 ? kMs : 0;
    maker.call("cudaDeviceSynchronize", now + 5 * kUs, 3007 * kUs);
    if (pause > 0) maker.op("log", now + 3012 * kUs, pause);
    now += 3013 * kUs + pause;
  }
  const Trace trace = maker.make();
  const Suggestions shown = suggest(trace);
  for (const Suggestion& one : shown.list) EXPECT_GE(one.gain_pct, kWorthPct) << one.title;
  EXPECT_GT(shown.left_out, 0U);
  EXPECT_GT(suggest(trace, true).list.size(), shown.list.size());
}

}  // namespace fathom::advise::host_rules_test
