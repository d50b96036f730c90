#include "serve/analyses.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/run_program.h"

namespace fathom::serve {
namespace {

namespace fs = std::filesystem;

class AnalysesTest : public testing::Test {
 protected:
  AnalysesTest() {
    fs::copy_file(FATHOM_SOURCE_DIR "/tests/golden/training_step/trace.json",
                  scratch.path("a.json"));
    fs::copy_file(FATHOM_SOURCE_DIR "/tests/golden/tiny_kernels/trace.json",
                  scratch.path("b.json"));
  }

  cli::Scratch scratch;
  Folder folder{scratch.path("")};
};

TEST_F(AnalysesTest, SayWhatTheCommandsSay) {
  Analyses analyses(folder, 1 << 30);
  for (const auto& [command, which] :
       {std::pair("flame", Document::flame), std::pair("memory", Document::memory),
        std::pair("timeline", Document::timeline), std::pair("report", Document::kernels),
        std::pair("hta", Document::hta)}) {
    const cli::Outcome said =
        cli::run_program({command, "a.json", "--json"}, {.folder = scratch.path("")});
    ASSERT_EQ(said.status, 0) << said.err;
    EXPECT_EQ(nlohmann::json::parse(*analyses.document("a.json", which)),
              nlohmann::json::parse(said.out))
        << command;
  }
}

TEST_F(AnalysesTest, ThePageIsThatOfTheReportAndKnowsOfTheServer) {
  Analyses analyses(folder, 1 << 30);
  const std::string page = *analyses.document("a.json", Document::page);
  for (const char* block : {"summary", "timeline", "flame", "server"})
    EXPECT_NE(page.find(std::string("data-name=\"") + block), std::string::npos) << block;
}

TEST_F(AnalysesTest, WhatWasMadeOnceIsKept) {
  Analyses analyses(folder, 1 << 30);
  const auto once = analyses.document("a.json", Document::kernels);
  EXPECT_EQ(analyses.document("a.json", Document::kernels), once) << "the same bytes";
  EXPECT_EQ(analyses.opened(), 1U);
  EXPECT_GT(analyses.bytes(), once->size());
}

TEST_F(AnalysesTest, AFileThatChangedIsReadAnew) {
  Analyses analyses(folder, 1 << 30);
  const auto before = analyses.document("a.json", Document::kernels);
  fs::copy_file(scratch.path("b.json"), scratch.path("a.json"),
                fs::copy_options::overwrite_existing);
  EXPECT_NE(*analyses.document("a.json", Document::kernels), *before);
  EXPECT_EQ(analyses.opened(), 1U);
}

TEST_F(AnalysesTest, TheOnesUsedLongestAgoGoWhenThereAreTooMany) {
  std::size_t a = 0, b = 0;
  {
    Analyses each(folder, 1 << 30);
    each.document("a.json", Document::kernels);
    a = each.bytes();
    each.document("b.json", Document::kernels);
    b = each.bytes() - a;
  }
  Analyses analyses(folder, a + b - 1);
  const auto first = analyses.document("a.json", Document::kernels);
  analyses.document("b.json", Document::kernels);
  EXPECT_EQ(analyses.opened(), 1U);
  EXPECT_EQ(analyses.bytes(), b);
  EXPECT_NE(analyses.document("a.json", Document::kernels), first) << "made anew";
}

TEST_F(AnalysesTest, OneThatIsLargerThanAllIsAnsweredAndNotKept) {
  Analyses analyses(folder, 1);
  EXPECT_FALSE(analyses.document("a.json", Document::kernels)->empty());
  EXPECT_EQ(analyses.opened(), 0U);
}

TEST_F(AnalysesTest, RoomIsMadeBeforeATraceIsRead) {
  Analyses analyses(folder, 1 << 20);
  analyses.document("a.json", Document::kernels);
  EXPECT_GT(analyses.bytes(), 0U);
  scratch.write("large.json", std::string(1 << 20, ' '));
  EXPECT_THROW(analyses.document("large.json", Document::kernels), base::Error);
  EXPECT_EQ(analyses.bytes(), 0U) << "what was kept had gone when it turned out to be no trace";
}

TEST_F(AnalysesTest, ThreadsThatAskForTheSameGetTheSame) {
  Analyses analyses(folder, 1 << 30);
  std::vector<std::future<std::shared_ptr<const std::string>>> asked;
  for (int i = 0; i < 8; ++i) {
    asked.push_back(std::async(std::launch::async, [&, i] {
      return analyses.document("a.json", i % 2 == 0 ? Document::kernels : Document::timeline);
    }));
  }
  std::vector<std::shared_ptr<const std::string>> got;
  for (auto& each : asked) got.push_back(each.get());
  EXPECT_EQ(got[0], got[6]);
  EXPECT_EQ(got[1], got[7]);
  EXPECT_EQ(analyses.opened(), 1U);
}

TEST_F(AnalysesTest, WhatIsNoTraceIsSaidWithTheNameThatWasAskedFor) {
  scratch.write("notes.txt", "notes");
  Analyses analyses(folder, 1 << 30);
  EXPECT_THROW(analyses.document("none.json", Document::kernels), NoSuchFile);
  try {
    analyses.document("notes.txt", Document::kernels);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("notes.txt: not a trace")) << error.what();
  }
}

}  // namespace
}  // namespace fathom::serve
