#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_program.h"

namespace fathom::cli::open_test {

namespace fs = std::filesystem;

constexpr const char* kTrace = R"({"traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 60, "dur": 100,
   "args": {"stream": 7, "device": 0}}
]})";

// The variables of a desktop as a test wants them, and none of the machine's own.
class Open : public ::testing::Test {
 protected:
  Open() {
    for (const char* name : {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"}) unsetenv(name);
    fs::create_directory(temporary_);
    setenv("TMPDIR", temporary_.c_str(), 1);
  }
  ~Open() override {
    unsetenv("BROWSER");
    unsetenv("TMPDIR");
  }

  // A browser that writes down, one per line, the words it was started with.
  std::string browser(const std::string& name, int status = 0) {
    const std::string path = scratch_.write(name, "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + told_ +
                                                      "\nexit " + std::to_string(status) + "\n");
    chmod(path.c_str(), 0700);
    return path;
  }

  std::vector<fs::path> pages() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(temporary_)) {
      if (entry.path().extension() == ".html") found.push_back(entry.path());
    }
    return found;
  }

  const Scratch scratch_;
  const std::string told_ = scratch_.path("told");
  const std::string temporary_ = scratch_.path("tmp");
};

TEST_F(Open, ShowsThePageOfATraceInTheBrowserThatIsNamed) {
  const std::string file = scratch_.write("my trace.json", kTrace);
  setenv("BROWSER", browser("browser").c_str(), 1);
  const Outcome outcome = run_program({"open", file});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  ASSERT_EQ(pages().size(), 1U);
  const fs::path page = pages().front();
  EXPECT_EQ(page.filename(), "my_trace.html");
  EXPECT_EQ(content_of(told_), "file://" + page.string() + "\n");
  EXPECT_NE(content_of(page).find("data-name=\"summary\""), std::string::npos);
  EXPECT_EQ(fs::status(page.parent_path()).permissions(), fs::perms::owner_all)
      << "nobody else may look";
}

TEST_F(Open, WithoutAFileShowsTheEmptyPage) {
  setenv("BROWSER", browser("browser").c_str(), 1);
  EXPECT_EQ(run_program({"open"}).status, 0);
  ASSERT_EQ(pages().size(), 1U);
  EXPECT_EQ(content_of(pages().front()).find("data-name="), std::string::npos);
}

TEST_F(Open, HasNoShellReadTheWordsOfABrowser) {
  setenv("BROWSER", (browser("browser") + " --new-window %s $(id);id").c_str(), 1);
  EXPECT_EQ(run_program({"open"}).status, 0);
  EXPECT_EQ(content_of(told_), "--new-window\nfile://" + pages().front().string() + "\n$(id);id\n");
}

TEST_F(Open, TakesTheFirstBrowserThatStarts) {
  setenv("BROWSER", ("/no/such/browser:" + browser("broken", 1) + ":" + browser("works")).c_str(),
         1);
  const Outcome outcome = run_program({"open"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Open, DoesNotWaitForABrowserThatStays) {
  const std::string path = scratch_.write("stays", "#!/bin/sh\nsleep 100\n");
  chmod(path.c_str(), 0700);
  setenv("BROWSER", path.c_str(), 1);
  EXPECT_EQ(run_program({"open"}, {.under = {"timeout", "60"}}).status, 0);
}

TEST_F(Open, WithoutADisplaySaysWhereThePageIs) {
  const Outcome outcome = run_program({"open"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("no display and no $BROWSER"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(pages().front().string() + "\n"), std::string::npos);
}

TEST_F(Open, SaysThatABrowserDidNotStart) {
  setenv("BROWSER", "/no/such/browser", 1);
  const Outcome outcome = run_program({"open"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("$BROWSER (/no/such/browser) did not start"), std::string::npos);
}

TEST_F(Open, RefusesWhatIsNoTraceInOneLine) {
  setenv("BROWSER", browser("browser").c_str(), 1);
  for (const std::string& file :
       {scratch_.path("missing"), scratch_.write("empty", ""), scratch_.write("text", "hello")}) {
    const Outcome outcome = run_program({"open", file});
    EXPECT_EQ(outcome.status, 2) << file;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_TRUE(pages().empty());
  EXPECT_FALSE(fs::exists(told_));
}

}  // namespace fathom::cli::open_test
