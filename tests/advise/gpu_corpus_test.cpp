#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "advise/gpu_bound.h"
#include "trace/corpus.h"
#include "trace/read.h"

// What a GPU engineer says of real runs about GPU work, and what they would not say.
namespace fathom::advise::gpu_corpus_test {

struct Said {
  std::string_view rule;
  double least_pct = 0;  // of the run, mid; of runs whose replay is not trusted, 0 to 0
  double most_pct = 0;
  std::string_view words = {};  // in title, description or hint
};

struct Reading {
  std::string_view trace;
  std::vector<Said> said;  // in this order, whatever else is said
  std::vector<std::string_view> rules_not_said;
  std::vector<std::string_view> words_not_said = {};
};

const std::vector<Reading> kReadings = {
    // Attention is 131 of 158 ms of GPU time. The one copy takes 3.5 ms of a call of 126 ms, which
    // waits for other work.
    {"h100_timesformer",
     {{"attention", 31, 33, "3,137 is not a multiple of 8"}},
     {"copies", "dominant", "precision"},
     {"pin"}},
    // Pointwise chains are 24.6 of 45.6 ms of GPU time; fused they save 12 to 20 ms of it, and of
    // the
    // run as much as the host can follow.
    {"h100_qwen", {{"pointwise", 20, 40, "torch.compile(model)"}}, {"precision", "optimizer"}},
    {"h100_nsfw",
     {{"launch", 78, 83, "47.5 µs apart"}},
     {"precision", "copies", "overlap", "pointwise"}},
    {"b200_vllm_eager",
     {{"launch", 66, 71, "--enforce-eager"}},
     {"precision", "copies", "overlap", "pointwise"}},
    // 25.5 GB of FP32 weights at 27.7 GB/s, from memory that is pinned already.
    {"h100_2gpu_1s",
     {{"streaming", 47, 50, "16 bits"}},
     {"copies", "overlap", "precision", "repeats"},
     {"TF32", "Copy from pinned"}},
    // All-reduces at 3.5 GB/s. They are steady, so a late rank is not proven, and what they do is
    // in
    // their arguments: the kernel's name does not tell.
    {"mi300_resnet_8gpu",
     {{"link", 40, 50, "3.5 GB/s on the bus"}, {"small_batch", 0, 0, "on a batch of 10."}},
     {"late_rank", "copies", "overlap"},
     {"all_to_all"}},
    // 96 % of its exchange is hidden already.
    {"h800_deepseek_train", {}, {"overlap", "late_rank", "link", "copies", "layout"}},
    // The longest exchanges, 25 ms each, were asked for as all-reduces, though their kernels are
    // called SendRecv. Its pageable copies have 704 bytes.
    {"negq_a100_w16",
     {{"overlap", 0, 0, "all-reduces"},
      {"alignment", 0, 0, "recorded (83.5 % of that time): 2,798 to 2,800 (95.9 %)"}},
     {"copies"},
     {"pin"}},
    // FP32 convolutions and products, 298 ms, twice as fast: the launch queue lets the host follow.
    {"ns_resnet_v100",
     {{"precision", 29.4, 32.4, "torch.float16"}, {"ddp", 1, 3, "one rank"}},
     {"overlap", "copies"},
     {"TF32"}},
    // Clearing gradients takes 91 of 1,009 ms of the host.
    {"param_linear", {{"zero_fills", 8.5, 9.5, "set_to_none=True"}}, {"copies"}},
    {"sglang_decode", {}, {"copies", "overlap"}, {"pin"}},
    // 404 all-reduces per step, then FP32 products; no sizes, so nothing is known of the link.
    {"v100_rank1of2.json",
     {{"buckets", 8, 12, "404 per step"}, {"precision", 3, 20, "torch.float16"}},
     {"link", "late_rank", "overlap"}},
    // Ranks wait in their all-to-alls: 192 bytes take longer than 13 KB. Rank 7 is whom they wait
    // for.
    {"worker0_step_12", {{"late_rank", 4, 8, "all-to-all of 192 B"}}, {}},
    {"worker7_step_12", {}, {"late_rank"}},
    {"mi210_gpu_only", {{"layout", 6, 10, "channels_last"}}, {"precision"}},
};

std::string file_of(std::string_view name) {
  for (const char* folder : {"expert", "kineto"}) {
    for (const std::string& file : trace::corpus_files(folder)) {
      if (std::filesystem::path(file).filename().string().starts_with(name)) return file;
    }
  }
  return {};
}

// What is suggested in which order is in golden_suggestions_test.cpp.
bool is_about_the_gpu(std::string_view rule) {
  constexpr std::array<std::string_view, 16> kRules = {
      "attention", "pointwise", "precision", "alignment", "layout", "copies",
      "streaming", "buckets",   "link",      "late_rank", "ddp",    "optimizer",
      "recompute", "overlap",   "dominant",  "repeats"};
  return std::find(kRules.begin(), kRules.end(), rule) != kRules.end();
}

void PrintTo(const Reading& reading, std::ostream* out) {
  *out << reading.trace;
}

class GpuCorpus : public testing::TestWithParam<Reading> {};

TEST_P(GpuCorpus, SaysWhatAnEngineerWould) {
  const Reading& reading = GetParam();
  const std::string file = file_of(reading.trace);
  if (file.empty()) GTEST_SKIP() << "no corpus";
  const trace::Trace trace = trace::read_trace(file);
  const Suggestions found = suggest(trace, true);
  auto from = found.list.begin();
  for (const Said& said : reading.said) {
    const auto at = std::find_if(from, found.list.end(),
                                 [&](const Suggestion& one) { return one.rule == said.rule; });
    ASSERT_NE(at, found.list.end()) << said.rule;
    EXPECT_GE(at->gain_pct, said.least_pct) << said.rule;
    EXPECT_LE(at->gain_pct, said.most_pct) << said.rule;
    EXPECT_TRUE(says(&*at, said.words)) << at->description << "\n" << hint_with_code(*at);
    from = at + 1;
  }
  for (const std::string_view rule : reading.rules_not_said) {
    EXPECT_EQ(found_by_rule(found, rule), nullptr) << rule;
  }
  for (const Suggestion& one : found.list) {
    if (!is_about_the_gpu(one.rule)) continue;
    for (const std::string_view words : reading.words_not_said) {
      EXPECT_FALSE(says(&one, words)) << words << ": " << one.title;
    }
  }
}

std::string test_name(const testing::TestParamInfo<Reading>& reading) {
  std::string name(reading.param.trace.substr(0, reading.param.trace.find('.')));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Readings, GpuCorpus, testing::ValuesIn(kReadings), test_name);

}  // namespace fathom::advise::gpu_corpus_test
