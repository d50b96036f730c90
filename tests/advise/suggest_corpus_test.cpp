#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "advise/suggest.h"
#include "trace/corpus.h"
#include "trace/read.h"

// Real runs get the suggestion that is right for them.
namespace fathom::advise::suggest_corpus_test {

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const char* folder : {"kineto", "nsys", "expert"}) {
    for (const std::string& file : trace::corpus_files(folder)) {
      if (!file.ends_with(".pickle")) files.push_back(file);  // memory alone
    }
  }
  return files;
}

TEST(SuggestCorpus, GainsAreGivenOnlyWhereTheReplayIsWithinThreePercent) {
  const std::vector<std::string> files = all_files();
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const trace::Trace trace = trace::read_trace(file);
    const Suggestions found = suggest(trace);
    double sum = 0;
    for (const Suggestion& one : found.list) {
      EXPECT_TRUE(found.has_gains || !one.gain) << one.title;
      EXPECT_TRUE(!one.gain || one.gain_pct >= kWorthPct) << one.title;
      EXPECT_EQ(one.is_rough, one.gain && found.is_rough) << one.title;
      sum += one.gain_pct;
    }
    EXPECT_LE(sum, 100.0);
    if (found.has_gains) {
      const double limit = found.is_rough ? 10 : 3;
      EXPECT_LE(*found.replay_error_pct, limit);
      EXPECT_LE(std::abs(*found.replayed_ns - found.measured_ns), limit / 100 * found.measured_ns);
    } else {
      EXPECT_FALSE(found.why_no_gains.empty());
    }
  }
}

// A file by the beginning of its name; empty where it is not there.
std::string file_named(const std::string& begin) {
  for (const std::string& file : all_files()) {
    if (std::filesystem::path(file).filename().string().starts_with(begin)) return file;
  }
  return {};
}

TEST(SuggestCorpus, FiguresOfTheHostsSide) {
  const std::string file = file_named("h100_timesformer");
  if (file.empty()) GTEST_SKIP() << "no corpus";
  const trace::Trace trace = trace::read_trace(file);
  const Suggestions found = suggest(trace);
  ASSERT_FALSE(found.list.empty());
  const Suggestion& first = found.list.front();
  EXPECT_EQ(first.rule, "preparation");
  EXPECT_NE(first.description.find("normalize (10"), std::string::npos) << first.description;
  // A tenth of 216 ms stays; half of it, or nothing.
  EXPECT_NEAR(static_cast<double>(first.gain->mid_ns) / 1e6, 194, 3);
  EXPECT_NEAR(static_cast<double>(first.gain->low_ns) / 1e6, 108, 3);
  EXPECT_NEAR(static_cast<double>(first.gain->high_ns) / 1e6, 216, 3);
}

std::string hints_of(const std::string& name) {
  std::string text;
  for (const std::string& file : all_files()) {
    if (std::filesystem::path(file).filename().string().rfind(name, 0) != 0) continue;
    const trace::Trace trace = trace::read_trace(file);
    for (const Suggestion& one : suggest(trace, true).list) text += hint_with_code(one) + "\n";
  }
  return text;
}

TEST(SuggestCorpus, HintsFitWhatWasTraced) {
  if (all_files().empty()) GTEST_SKIP() << "no corpus";
  for (const char* inference : {"b200_vllm", "h100_bert", "mi300_bert", "mi210_gpu"}) {
    EXPECT_EQ(hints_of(inference).find("torch.optim"), std::string::npos) << inference;
  }
  EXPECT_NE(hints_of("v100_rank1of2.json").find("torch.optim.SGD("), std::string::npos);
  // Its waits are all inside copies of 8 bytes.
  const std::string copies = hints_of("mfu_2gpu_before");
  EXPECT_NE(copies.find("torch.full"), std::string::npos);
  EXPECT_EQ(copies.find("Synchronize"), std::string::npos) << copies;
  EXPECT_EQ(hints_of("v100_").find("TF32"), std::string::npos);
}

// The same job was measured with workers: the estimate, from low to high, has what they brought.
TEST(SuggestCorpus, WhatWorkersWouldBringIsWhatTheyBrought) {
  double without = 0;
  double with = 0;
  Gain gain;
  for (const std::string& file : trace::corpus_files("kineto")) {
    if (file.find("v100_resnet50_workers") == std::string::npos) continue;
    const trace::Trace trace = trace::read_trace(file);
    const Suggestions found = suggest(trace);
    if (file.find("workers4") != std::string::npos) {
      with = found.measured_ns;
    } else {
      without = found.measured_ns;
      gain = found.list.front().gain.value_or(Gain{});
    }
  }
  if (without == 0) GTEST_SKIP() << "no corpus";
  EXPECT_GE(without - with, static_cast<double>(gain.low_ns));
  EXPECT_LE(without - with, static_cast<double>(gain.high_ns));
}

}  // namespace fathom::advise::suggest_corpus_test
