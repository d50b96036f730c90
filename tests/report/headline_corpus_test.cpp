// The headline of real runs, as an engineer who has looked at the raw trace would put it.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "analyze/efficiency/efficiency.h"
#include "analyze/operations/steps.h"
#include "analyze/run/gpu_shares.h"
#include "report/gpu_story.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::report::headline_corpus_test {

struct Headline {
  const char* file;
  const char* text;
};

void PrintTo(const Headline& headline, std::ostream* out) {
  *out << headline.file;
}

class HeadlineCorpus : public testing::TestWithParam<Headline> {};

TEST_P(HeadlineCorpus, SaysWhatAnEngineerWould) {
  const auto file = trace::corpus_file(GetParam().file);
  if (!file) GTEST_SKIP() << "no corpus";
  const trace::Trace trace = trace::read_trace(*file);
  const analyze::GpuWork work = analyze::gpu_work(trace);
  const std::vector<trace::SpanId> steps = analyze::step_spans(trace);
  const analyze::RunShares run = run_shares(trace, work, analyze::wall(trace, work, steps), steps);
  const std::string text = gpu_story(gpus_of(run, efficiencies(trace, work, steps)));
  EXPECT_EQ(text, GetParam().text);
  EXPECT_EQ(text.find("busy"), text.npos);  // copies and communication are not
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, HeadlineCorpus,
    testing::Values(
        // GPU-bound: the largest class and how well it runs.
        Headline{
            "expert/h100_qwen.json.gz",
            "The GPU computed 91.5 % of 49.4 ms: GPU-bound. The largest part of its compute is "
            "elementwise (38.4 % of GPU time), at 60.2 % of the memory bandwidth. GEMM "
            "(28.0 %) is fine, at 61.9 % of the peak."},
        Headline{
            "expert/h800_deepseek_train.json",
            "The GPU computed 96.0 % of 129.5 ms: GPU-bound. The largest part of its compute is "
            "GEMM (31.0 % of GPU time); to see how efficient it is, record shapes "
            "(record_shapes=True). It communicated for 113.4 ms, 96.3 % of that alongside "
            "compute, in kernels of 20 blocks on 132 multiprocessors."},
        Headline{
            "expert/ns_resnet_v100.json.gz",
            "The GPU computed 96.8 % of 483.5 ms: GPU-bound. The largest part of its compute is "
            "convolution (63.7 % of GPU time); to see how efficient it is, record shapes "
            "(record_shapes=True)."},
        // Replayed graphs have no operations, so that their shapes cannot be recorded.
        Headline{
            "expert/sglang_decode.json.gz",
            "The GPU computed 92.6 % of 10.5 ms: GPU-bound. The largest part of its compute is "
            "GEMM (59.1 % of GPU time); how efficient it is cannot be told: captured graphs "
            "record no shapes. Not counted: 463.3 ms in which the GPU ran what this "
            "excerpt does not have."},
        Headline{
            "kineto/mi300_vllm_graph_replay.json.gz",
            "The GPU computed 99.4 % of 10.7 ms: GPU-bound. The largest part of its compute is "
            "mixture of experts (71.5 % of GPU time); how efficient it is cannot be told: captured "
            "graphs record no shapes. Not counted: 8.4 ms in which the GPU ran "
            "what this excerpt does not have."},
        Headline{
            "kineto/inductor_triton.json.gz",
            "The GPU computed 98.0 % of 12.8 ms: GPU-bound. The largest part of its compute is "
            "GEMM (64.0 % of GPU time), at 41.9 % of the peak, which is good."},
        // A loss of each kind and cause. Its kernels are called SendRecv, its annotations
        // all_to_all.
        Headline{"kineto/a100_rank3of8.json.gz",
                 "The GPU computed 60.5 % of 465.2 ms; the largest loss is 18.9 % exposed "
                 "communication: mostly all-to-all (42 calls, 83.4 ms); 14.5 ms of each step of "
                 "76.8 ms."},
        // Each step has two all-reduces of 15.7 ms together, of which 12.2 ms are exposed.
        Headline{"expert/mi300_resnet_8gpu.json.gz",
                 "The GPU computed 29.7 % of 86.6 ms; the largest loss is 64.2 % exposed "
                 "communication: mostly all-reduce (6 calls, 35.2 ms); 12.2 ms of each step of "
                 "19.0 ms."},
        Headline{
            "expert/h100_2gpu_1s.sqlite",
            "The 2 GPUs computed 2.3 % of 969.4 ms; the largest loss is 97.0 % exposed copies: "
            "mostly Memcpy HtoD (Pinned -> Device) (223 copies at 27.7 GB/s, 920.9 ms)."},
        Headline{"expert/h100_timesformer.json.gz",
                 "The GPU computed 40.5 % of 382.5 ms; the largest loss is 58.6 % idle: 218.1 ms "
                 "while the host ran code that launches nothing, mostly "
                 "transformers/image_processing_utils.py(79): normalize (106.4 ms)."},
        // 14 µs is the median of its kernels; with copies and fills it is 9.
        Headline{
            "expert/param_linear.json.gz",
            "The GPU computed 36.6 % of 1.01 s; the largest loss is 63.2 % idle: launch-bound, "
            "10,356 launches 84.0 µs apart for kernels of 14.0 µs (medians). Not counted: "
            "995.1 ms of set-up (cudaFree the longest)."},
        Headline{"expert/h100_nsfw.json.gz",
                 "The GPU computed 15.5 % of 7.9 ms; the largest loss is 84.5 % idle: "
                 "launch-bound, 156 launches 47.5 µs apart for kernels of 8.2 µs (medians)."},
        Headline{"kineto/b200_vllm_eager.json.gz",
                 "The GPU computed 9.9 % of 87.4 ms; the largest loss is 86.7 % idle: "
                 "launch-bound, 929 launches 71.8 µs apart for kernels of 6.3 µs (medians)."},
        Headline{"kineto/v100_rank1of2.json.gz",
                 "The GPU computed 35.7 % of 1.74 s; the largest loss is 42.4 % idle: "
                 "launch-bound, 22,290 launches 58.0 µs apart for kernels of 8.0 µs (medians)."},
        Headline{"kineto/v100_rank1of2_other.json.gz",
                 "The GPU computed 73.5 % of 745.3 ms; the largest loss is 12.9 % exposed "
                 "copies: mostly Memcpy DtoD (Device -> Device) (4,645 copies at 300.4 GB/s, "
                 "82.1 ms)."},
        Headline{"kineto/v100_resnet50_workers0.json.gz",
                 "The GPU computed 55.5 % of 1.07 s; the largest loss is 43.4 % idle: 356.3 ms "
                 "while the host ran code that launches nothing, mostly "
                 "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ (352.4 ms)."},
        Headline{"kineto/v100_resnet50_workers4.json.gz",
                 "The GPU computed 70.3 % of 846.5 ms; the largest loss is 27.4 % idle: 154.4 ms "
                 "in 1,792 gaps before work that the host launched late."},
        Headline{"kineto/legacy2021_resnet50.json.gz",
                 "The GPU computed 68.9 % of 928.8 ms; the largest loss is 29.6 % idle: 187.6 ms "
                 "while the host ran code that launches nothing, mostly "
                 "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ (183.7 ms)."},
        Headline{"kineto/h100_bert_small.json.gz",
                 "The GPU computed 6.9 % of 4.4 ms; the largest loss is 93.0 % idle: "
                 "launch-bound, 61 launches 53.2 µs apart for kernels of 3.6 µs (medians)."},
        Headline{"kineto/mi300_bert_small.json.gz",
                 "The GPU computed 9.7 % of 4.0 ms; the largest loss is 90.2 % idle: "
                 "launch-bound, 61 launches 46.4 µs apart for kernels of 4.8 µs (medians)."},
        Headline{"kineto/a100_rank0of2_nccl_args_ns.json.gz",
                 "The GPU computed 17.3 % of 667.2 ms; the largest loss is 76.4 % idle: "
                 "launch-bound, 3,774 launches 91.3 µs apart for kernels of 16.3 µs (medians)."},
        Headline{"nsys/mfu_2gpu_after.sqlite",
                 "The 2 GPUs computed 76.0–76.1 % of 299.3 ms; the largest loss is 15.1–19.8 % "
                 "idle (most on GPU 0): 46.4 ms in 761 gaps after the host had waited for the "
                 "GPU, mostly in aten::copy_ (cudaStreamSynchronize) for copies of up to 8 B."},
        Headline{"kineto/a100_alexnet_cuda_sync.json.gz",
                 "The GPU computed 1.4 % of 778.3 ms; the largest loss is 91.5 % idle: 643.9 ms "
                 "while the host ran code that launches nothing, mostly aten::uniform_ (487.1 "
                 "ms). Not counted: 42.65 s of set-up (cudaDeviceGetStreamPriorityRange the "
                 "longest)."},
        Headline{"kineto/a100_event_sync_multi_stream.json.gz",
                 "The GPU computed 1.9 % of 19.9 ms; the largest loss is 98.1 % idle: 18.8 ms in "
                 "which nothing was recorded on the host."},
        // All wait for rank 7 in their exchanges, which itself waits for nobody.
        Headline{"kineto/dlrm_8ranks/worker1_step_12.1694128201556.pt.trace.json.gz",
                 "The GPU computed 6.3 % of 19.9 ms; the largest loss is 55.6 % exposed "
                 "communication: mostly all-to-all (5 calls, 9.4 ms)."},
        Headline{"kineto/dlrm_8ranks/worker7_step_12.1694128201553.pt.trace.json.gz",
                 "The GPU computed 8.5 % of 12.5 ms; the largest loss is 78.7 % idle: "
                 "launch-bound, 262 launches 25.0 µs apart for kernels of 3.0 µs (medians)."},
        // Sampled: most of what the GPU did is not in it, and that is what it seems to wait for.
        Headline{"kineto/two_ranks_sampled/sampled_rank-0.json.gz",
                 "The GPU computed 17.1 % of 1.23 s; the largest loss is 55.5 % idle: 311.5 ms "
                 "before work that had been launched (40 in the queue) and waited for something "
                 "that is not in the trace; 153.7 ms of each step of 607.2 ms."},
        // Launches are 3.5 µs apart and kernels take 4.3 µs: nothing is bound by launches.
        Headline{
            "kineto/mi210_gpu_only.json.gz",
            "The GPU computed 88.7 % of 6.0 ms; the largest loss is 11.3 % idle: 641.1 µs in 20 "
            "gaps before work that the host launched late."},
        Headline{
            "nsys/mfu_2gpu_before.sqlite",
            "The 2 GPUs computed 84.6–85.4 % of 300.0 ms; the largest loss is 8.7–10.9 % idle "
            "(most on GPU 1): 24.6 ms in 326 gaps after the host had waited for the GPU, mostly "
            "in aten::copy_ (cudaStreamSynchronize) for copies of up to 8 B."},
        // 529 are queued before the longest gap, of 64.7 ms; before those of 64 ms of the other
        // steps 812, and before one of 12 ms 936. All of these are 131.8 ms per step.
        Headline{
            "expert/negq_a100_w16.json.gz",
            "The GPU computed 17.1 % of 1.23 s; the largest loss is 64.4 % idle: 753.9 ms before "
            "work that had been launched (529 in the queue) and waited for something that is "
            "not in the trace; 131.8 ms of each step of 215.4 ms."}),
    [](const auto& headline) {
      const std::string path = headline.param.file;
      const std::size_t name = path.rfind('/') + 1;
      std::string text = path.substr(name, path.find('.', name) - name);
      std::replace(text.begin(), text.end(), '-', '_');
      return text;
    });

}  // namespace fathom::report::headline_corpus_test
