// The headline of real runs, as an engineer who has looked at the raw trace would put it.
#include <gtest/gtest.h>

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
  EXPECT_EQ(gpu_story(gpus_of(run, efficiencies(trace, work, steps))), GetParam().text);
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
            "compute."},
        Headline{
            "expert/ns_resnet_v100.json.gz",
            "The GPU computed 96.8 % of 483.5 ms: GPU-bound. The largest part of its compute is "
            "convolution (63.7 % of GPU time); to see how efficient it is, record shapes "
            "(record_shapes=True)."},
        // Replayed graphs have no operations, so that their shapes cannot be recorded.
        Headline{
            "expert/sglang_decode.json.gz",
            "The GPU computed 92.6 % of 10.5 ms: GPU-bound. The largest part of its compute is "
            "GEMM (59.1 % of GPU time). Not counted: 463.3 ms in which the GPU ran what this "
            "excerpt does not have."},
        Headline{
            "kineto/mi300_vllm_graph_replay.json.gz",
            "The GPU computed 99.4 % of 10.7 ms: GPU-bound. The largest part of its compute is "
            "mixture of experts (71.5 % of GPU time). Not counted: 8.4 ms in which the GPU ran "
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
        Headline{
            "expert/param_linear.json.gz",
            "The GPU computed 36.6 % of 1.01 s; the largest loss is 63.2 % idle: launch-bound, "
            "10,356 launches 84.0 µs apart for kernels of 14.0 µs (medians). Not counted: "
            "995.1 ms of set-up (cudaFree the longest)."},
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
        Headline{
            "expert/negq_a100_w16.json.gz",
            "The GPU computed 17.1 % of 1.23 s; the largest loss is 64.4 % idle: 753.9 ms before "
            "work that had been launched (529 in the queue) and waited for something that is "
            "not in the trace; 131.8 ms of each step of 215.4 ms."}),
    [](const auto& headline) {
      const std::string path = headline.param.file;
      const std::size_t name = path.find('/') + 1;
      return path.substr(name, path.find('.') - name);
    });

}  // namespace fathom::report::headline_corpus_test
