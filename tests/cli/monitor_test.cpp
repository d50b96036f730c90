// `fathom monitor` as a program: once, as JSON, recorded, and on a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::monitor_test {

using testing::HasSubstr;

const std::string kFathom = std::string(FATHOM_BINARY_DIR) + "/bin/fathom";

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

TEST(MonitorCommand, OnceShowsTheDemoAndSaysThatItIsOne) {
  const Outcome outcome = run_program({"monitor", "--demo", "--once"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("demo: these GPUs do not exist"));
  EXPECT_THAT(outcome.out, HasSubstr("Demo GPU 0 (training)"));
  EXPECT_THAT(outcome.out, HasSubstr("demo_train.py"));
}

TEST(MonitorCommand, IntoAPipeItLooksOnceAndEnds) {
  EXPECT_THAT(run_program({"monitor", "--demo"}).out, HasSubstr("Demo GPU 1"));
}

TEST(MonitorCommand, JsonIsOneObjectPerLineUntilTheReaderHasEnough) {
  const std::string text =
      output_of(kFathom + " monitor --demo --json --interval 0.02 | head -n 3");
  std::istringstream lines(text);
  std::int64_t before = 0;
  for (int i = 0; i < 3; ++i) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << text;
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(faults_against("monitor", json), std::vector<std::string>{});
    EXPECT_EQ(json["demo"], true);
    EXPECT_EQ(json["devices"].size(), 2u);
    EXPECT_EQ(json["devices"][0]["name"], "Demo GPU 0 (training)");
    EXPECT_GT(json["time_ns"].get<std::int64_t>(), before);
    before = json["time_ns"];
  }
}

TEST(MonitorCommand, WhatItRecordsIsARunFile) {
  const Scratch scratch;
  const std::string file = scratch.path("gpus.pftrace");
  // It ends when its output is read no more; nothing is lost by that.
  output_of(kFathom + " monitor --demo --json --interval 0.02 --record '" + file +
            "' | head -n 20");
  const Outcome report = run_program({"report", file});
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_EQ(report.err, "");
  EXPECT_THAT(report.out, HasSubstr("10 series of values"));
  const Outcome timeline = run_program({"timeline", file, "-o", scratch.path("gpus.html")});
  EXPECT_EQ(timeline.status, 0) << timeline.err;
  const Outcome convert = run_program({"convert", file, scratch.path("gpus.json")});
  EXPECT_EQ(convert.status, 0) << convert.err;
  std::ifstream json(scratch.path("gpus.json"));
  const std::string text(std::istreambuf_iterator<char>(json), {});
  for (const char* track : {"GPU 0 · use (%)", "GPU 0 · memory (MB)", "GPU 0 · power (W)",
                            "GPU 1 · temp. (°C)", "GPU 1 · clock (MHz)"}) {
    EXPECT_THAT(text, HasSubstr(track));
  }
  const Outcome again = run_program({"monitor", "--demo", "--once", "--record", file});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("exists and is not overwritten"));
}

TEST(MonitorCommand, EverySettingIsAnOptionThatCountsMoreThanTheFile) {
  const Scratch scratch;
  const std::string config = scratch.write("fathom.yaml",
                                           "gpu_profiler:\n  demo: true\n  mode: basic\n"
                                           "  temperature_warning_celsius: 99999\n");
  const auto programs = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"monitor", "--once", "--json", "--config", config});
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["devices"][0]["processes"].size();
  };
  EXPECT_EQ(run_program({"monitor", "--once", "--config", config}).status, 2);
  scratch.write("fathom.yaml", "gpu_profiler:\n  demo: true\n  mode: basic\n");
  EXPECT_EQ(programs({}), 0u);
  EXPECT_GT(programs({"--mode", "detailed"}), 0u);
  EXPECT_GT(programs({"--mode=detailed", "--enable-power-monitoring", "false"}), 0u);
}

TEST(MonitorCommand, SettingsThatAreWrongOrContradictAreRefused) {
  const auto said = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"monitor", "--demo", "--once"});
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  };
  EXPECT_THAT(
      said({"--temperature-warning-celsius", "201"}),
      HasSubstr("--temperature-warning-celsius: must be a number from 0 to 200, not '201'"));
  EXPECT_THAT(said({"--interval", "1e10"}), HasSubstr("must be a number from 0.01 to 3600"));
  EXPECT_THAT(said({"--memory-warning-percent", "99"}),
              HasSubstr("memory_warning_percent (99) must not be above"));
  EXPECT_THAT(said({"--interval", "1", "--monitoring-interval-seconds", "2"}),
              HasSubstr("cannot be combined"));
  for (const char* command : {"monitor", "serve"}) {
    const std::string help = run_program({command, "--help"}).out;
    for (const char* option : {"--interval N", "--max-snapshots", "--export-json-reports"})
      EXPECT_THAT(help, HasSubstr(option)) << command;
  }
}

TEST(MonitorCommand, StandardOutputTakesOneOutput) {
  const Outcome outcome = run_program({"monitor", "--demo", "--json", "--record", "-"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("would get more than one output"));
}

TEST(MonitorCommand, ARecordingMayBeJoinedToARunOfTheSameTime) {
  const Scratch scratch;
  const std::string gpus = scratch.path("gpus.pftrace");
  const std::string run = scratch.path("run.pftrace");
  const std::string both = scratch.path("both.pftrace");
  output_of(kFathom + " monitor --demo --once --record '" + gpus + "'; " + kFathom +
            " profile -o '" + run + "' -- sleep 0.3; cat '" + run + "' '" + gpus + "' > '" + both +
            "'");
  const Outcome report = run_program({"report", both});
  EXPECT_EQ(report.status, 0);
  EXPECT_EQ(report.err, "");
  run_program({"convert", both, scratch.path("both.json")});
  std::ifstream json(scratch.path("both.json"));
  const std::string text(std::istreambuf_iterator<char>(json), {});
  EXPECT_THAT(text, HasSubstr("GPU 0 · use"));
  EXPECT_THAT(text, HasSubstr("host memory"));
}

TEST(MonitorCommand, WithoutAGpuItSaysSoCalmly) {
  const Scratch scratch;
  const std::string config = scratch.path("fathom.yaml");
  std::ofstream(config) << "gpu_profiler:\n  enable_cuda_profiling: false\n"
                           "  enable_opencl_profiling: false\n";
  const Outcome outcome = run_program({"monitor", "--once", "--config", config});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("No GPU was found."));
}

TEST(MonitorCommand, WrongSettingsAreNamedWithTheirLine) {
  const Scratch scratch;
  const std::string config = scratch.path("fathom.yaml");
  std::ofstream(config) << "gpu_profiler:\n  mod: basic\n";
  const Outcome outcome = run_program({"monitor", "--once", "--config", config});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("fathom.yaml:2: gpu_profiler: unknown setting 'mod'. Did you mean "
                        "'mode'?"));
  EXPECT_EQ(run_program({"monitor", "--interval", "0"}).status, 2);
}

// On a real terminal of tmux, where that is installed.
class MonitorOnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("tmux -V >/dev/null 2>&1") != 0) GTEST_SKIP() << "tmux is not installed";
  }
  void TearDown() override { tmux("kill-server"); }

  std::string tmux(const std::string& words) const {
    return output_of("tmux -S '" + scratch_.path("tmux") + "' -f /dev/null " + words);
  }
  void start(int columns, int rows) const {
    tmux("new-session -d -x " + std::to_string(columns) + " -y " + std::to_string(rows) + " '" +
         kFathom + " monitor --demo --interval 0.1; echo it has ended; sleep 600'");
  }
  std::string screen() const { return tmux("capture-pane -p"); }
  static bool comes_true(const std::function<bool()>& holds) {
    for (int i = 0; i < 600; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  bool shows(const std::string& text) const {
    return comes_true([&] { return screen().find(text) != std::string::npos; });
  }
  // Of the line with that text; 0 where there is none.
  std::size_t columns_of_line_with(const std::string& text) const {
    std::istringstream lines(screen());
    for (std::string line; std::getline(lines, line);) {
      if (line.find(text) == std::string::npos) continue;
      return static_cast<std::size_t>(
          std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
    }
    return 0;
  }

  Scratch scratch_;
};

TEST_F(MonitorOnATerminal, ShowsTheGpusTheKeysAndEnds) {
  start(80, 24);
  ASSERT_TRUE(shows("Demo GPU 1")) << screen();
  EXPECT_THAT(screen(), HasSubstr("demo: these GPUs do not exist"));
  EXPECT_THAT(screen(), HasSubstr("q quit"));
  EXPECT_THAT(screen(), HasSubstr("█"));
  EXPECT_THAT(screen(), HasSubstr("python3 demo_train.py"));
  tmux("send-keys '?'");
  EXPECT_TRUE(shows("Nothing here stops a program"));
  EXPECT_THAT(screen(), HasSubstr("demo:"));
  tmux("send-keys h");
  EXPECT_TRUE(shows("Demo GPU 1"));
  tmux("send-keys / zzz Enter");
  EXPECT_TRUE(shows("filter: zzz"));
  // Both blocks on one line, which is longer than the terminal was.
  tmux("resize-window -x 200 -y 50");
  EXPECT_TRUE(comes_true([&] { return columns_of_line_with("Demo GPU 0") > 100; })) << screen();
  // Cut off by tmux it would still be there: its own words for little room tell.
  tmux("resize-window -x 40 -y 20");
  EXPECT_TRUE(comes_true([&] {
    const std::size_t columns = columns_of_line_with("Demo GPU 0");
    return columns > 0 && columns <= 40 && screen().find("Demo GPU 1") != std::string::npos &&
           columns_of_line_with("? keys") > 0 &&
           screen().find("a past alerts") == std::string::npos;
  })) << screen();
  tmux("send-keys q");
  EXPECT_TRUE(shows("it has ended")) << screen();
}

TEST_F(MonitorOnATerminal, CtrlCEndsItToo) {
  start(80, 24);
  ASSERT_TRUE(shows("Demo GPU 1")) << screen();
  tmux("send-keys C-c");
  // It takes its screen away with it.
  EXPECT_TRUE(comes_true([&] { return screen().find("Demo GPU 1") == std::string::npos; }))
      << screen();
}

}  // namespace fathom::cli::monitor_test
