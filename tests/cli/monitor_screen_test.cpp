// The screen of `fathom monitor`, without a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/format.h"
#include "cli/monitor_layout.h"
#include "cli/monitor_parts.h"

namespace fathom::cli::monitor_screen_test {

using testing::HasSubstr;
using testing::Not;

GpuDevice gpu(unsigned index) {
  GpuDevice device{.index = index,
                   .uuid = "gpu-" + std::to_string(index),
                   .name = "NVIDIA H100 80GB HBM3",
                   .vendor = "NVIDIA",
                   .type = "gpu"};
  device.memory_total_bytes = 80LL << 30;
  device.power_limit_watts = 700;
  device.now.utilization_percent = 50 + index;
  device.now.memory_used_bytes = 20LL << 30;
  device.now.temperature_celsius = 61;
  device.now.power_watts = 412;
  device.now.core_clock_hz = 1.98e9;
  device.now.fan_percent = 33;
  device.now.throttle = 0;
  device.processes = {{.pid = 1000 + index,
                       .name = "python3",
                       .command = "python3 train.py --token abc",
                       .memory_bytes = (10LL + index) << 30,
                       .utilization_percent = 90.0 - index}};
  return device;
}

MonitorScene scene(unsigned gpus) {
  MonitorScene scene;
  for (unsigned i = 0; i < gpus; ++i) {
    scene.now.devices.push_back(gpu(i));
    for (int k = 0; k < 300; ++k) scene.utilization["gpu-" + std::to_string(i)].push_back(k % 101);
  }
  scene.clock = "11:02:17";
  return scene;
}

Alert alert(AlertSeverity severity) {
  return {.id = 1,
          .kind = AlertKind::thermal,
          .severity = severity,
          .uuid = "gpu-0",
          .device = "NVIDIA H100 80GB HBM3",
          .raised_ns = 1'800'000'000'000'000'000,
          .cleared_ns = {},
          .value = 84,
          .limit = 80,
          .message = "84 °C, at or above the warning limit of 80 °C",
          .cause = "Its fan runs at 4 %"};
}

std::string shown(const MonitorScene& scene, std::size_t columns, std::size_t rows,
                  const MonitorView& view = {}) {
  return plain_text(monitor_lines(scene, view, columns, rows));
}

TEST(MonitorScreen, FitsEveryTerminalFromFortyColumnsToThreeHundred) {
  for (const std::size_t columns : {40, 59, 60, 79, 80, 100, 160, 200, 300}) {
    for (const std::size_t rows : {10, 16, 24, 50}) {
      for (const unsigned gpus : {0, 1, 2, 3, 8, 16}) {
        MonitorScene all = scene(gpus);
        all.config.demo = true;
        for (int i = 0; i < 5; ++i) all.alerts.push_back(alert(AlertSeverity::critical));
        const auto lines = monitor_lines(all, {}, columns, rows);
        ASSERT_EQ(lines.size(), rows) << columns << " columns, " << gpus << " GPUs";
        for (const ScreenLine& line : lines) {
          std::size_t width = 0;
          for (const Piece& piece : line) width += base::display_width(piece.text);
          ASSERT_LE(width, columns) << plain_text({line}) << rows << " rows, " << gpus << " GPUs";
        }
        EXPECT_THAT(plain_text({lines[0]}), HasSubstr("emo")) << "the demo is named";
      }
    }
  }
}

TEST(MonitorScreen, AWideOneShowsEverythingOfAGpu) {
  const std::string text = shown(scene(1), 100, 24);
  for (const char* part : {"0 NVIDIA H100 80GB HBM3", "61 °C", "412 of 700 W", "1980 MHz",
                           "fan 33 %", " 50 %", " 25 %  20.0 of 80.0 GB", "▃", "█", "last ", "1000",
                           "10 GB", "q quit", "1 GPU", "11:02:17"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("demo")));
}

TEST(MonitorScreen, SixteenGpusAreAllThereOnAnOrdinaryTerminal) {
  const std::string text = shown(scene(16), 80, 24);
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_THAT(text, HasSubstr(std::to_string(50 + i) + " %")) << "GPU " << i;
  }
}

TEST(MonitorScreen, WhatDoesNotFitIsCountedAndCanBeReached) {
  MonitorView view;
  const std::string top = shown(scene(16), 40, 10, view);
  EXPECT_THAT(top, HasSubstr("more (up, down)"));
  EXPECT_THAT(top, HasSubstr("0 NVIDIA"));
  for (int i = 0; i < 30; ++i) press(view, kKeyDown);
  const std::string bottom = shown(scene(16), 40, 10, view);
  EXPECT_THAT(bottom, HasSubstr("15 NVIDIA"));
  EXPECT_THAT(bottom, Not(HasSubstr("\n0 NVIDIA")));
}

TEST(MonitorScreen, BlocksStandSideBySideWhereThereIsRoom) {
  const auto lines = monitor_lines(scene(2), {}, 200, 50);
  EXPECT_THAT(plain_text({lines[2]}), HasSubstr("0 NVIDIA"));
  EXPECT_THAT(plain_text({lines[2]}), HasSubstr("1 NVIDIA"));
}

TEST(MonitorScreen, NoGpuIsSaidCalmly) {
  MonitorScene none = scene(0);
  BackendHealth& nvml = none.backends.emplace_back();
  nvml.name = "nvml";
  nvml.problem = "the driver is not loaded";
  const std::string text = shown(none, 80, 24);
  EXPECT_THAT(text, HasSubstr("No GPU was found."));
  EXPECT_THAT(text, HasSubstr("nvml: the driver is not loaded"));
  EXPECT_THAT(text, HasSubstr("looks again every 30 s"));
}

TEST(MonitorScreen, ALostOrSleepingGpuKeepsItsPlace) {
  MonitorScene two = scene(2);
  two.now.devices[0].state = DeviceState::lost;
  two.now.devices[0].now = {};
  const std::string text = shown(two, 100, 24);
  EXPECT_THAT(text, HasSubstr("lost: it does not answer any more"));
  EXPECT_THAT(text, HasSubstr("1 NVIDIA"));
  two.now.devices[0].state = DeviceState::suspended;
  EXPECT_THAT(shown(two, 100, 24), HasSubstr("asleep"));
}

TEST(MonitorScreen, WhatIsNotKnownIsNotZero) {
  MonitorScene one = scene(1);
  one.now.devices[0].now = {};
  one.now.devices[0].processes[0].memory_bytes.reset();
  const std::string text = shown(one, 100, 24);
  EXPECT_THAT(text, HasSubstr("– "));
  EXPECT_THAT(text, Not(HasSubstr(" 0 %")));
  EXPECT_THAT(text, Not(HasSubstr("0 °C")));
}

TEST(MonitorScreen, AlertsAreShownWithTheirCauseAndPastOnesOnRequest) {
  MonitorScene one = scene(1);
  one.alerts.push_back(alert(AlertSeverity::warning));
  EXPECT_THAT(shown(one, 150, 24),
              HasSubstr("at or above the warning limit of 80 °C. Its fan runs"));
  one.alerts[0].cleared_ns = one.alerts[0].raised_ns;
  EXPECT_THAT(shown(one, 150, 24), Not(HasSubstr("warning limit")));
  MonitorView view;
  press(view, 'a');
  EXPECT_THAT(shown(one, 150, 24, view), HasSubstr("(over at "));
}

TEST(MonitorScreen, ManyAlertsLeaveRoomForTheGpus) {
  MonitorScene one = scene(1);
  for (int i = 0; i < 40; ++i) one.alerts.push_back(alert(AlertSeverity::critical));
  const std::string text = shown(one, 80, 24);
  EXPECT_THAT(text, HasSubstr("… 37 more alerts"));
  EXPECT_THAT(text, HasSubstr("1000"));
}

TEST(MonitorScreen, ProgramsAreSortedAndFiltered) {
  MonitorScene three = scene(3);
  three.now.devices[1].processes[0].name = "ollama";
  three.now.devices[1].processes[0].command = "ollama serve";
  MonitorView view;
  EXPECT_EQ(process_rows(three.now.devices, view)[0].process.pid, 1002) << "by memory";
  press(view, 's');
  EXPECT_EQ(process_rows(three.now.devices, view)[0].process.pid, 1000) << "by utilisation";
  press(view, 's');
  EXPECT_EQ(process_rows(three.now.devices, view)[0].process.pid, 1000) << "by pid";
  press(view, 's');
  EXPECT_EQ(process_rows(three.now.devices, view)[0].process.name, "ollama");
  press(view, '/');
  for (const char c : std::string("oll")) EXPECT_TRUE(press(view, c));
  EXPECT_TRUE(press(view, 'q')) << "a letter of the filter, not the end";
  press(view, kKeyBackspace);
  press(view, kKeyEnter);
  const auto rows = process_rows(three.now.devices, view);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].process.pid, 1001);
  EXPECT_EQ(rows[0].gpu, 1u);
  press(view, '/');
  press(view, kKeyEscape);
  EXPECT_EQ(process_rows(three.now.devices, view).size(), 3u);
}

TEST(MonitorScreen, FiguresOfADriverThatHangsSayHowOldTheyAre) {
  MonitorScene one = scene(1);
  EXPECT_THAT(shown(one, 80, 24), Not(HasSubstr("s old")));
  one.now.devices[0].age_seconds = 14;
  EXPECT_THAT(shown(one, 80, 24), HasSubstr("14 s old"));
  MonitorScene many = scene(8);
  many.now.devices[7].age_seconds = 14;
  EXPECT_THAT(shown(many, 80, 16), HasSubstr("14 s old")) << "a line per GPU, too";
}

TEST(MonitorScreen, WithoutProgramsThereIsNoListOfThem) {
  MonitorScene one = scene(1);
  one.now.devices[0].processes.clear();
  EXPECT_THAT(shown(one, 80, 24), Not(HasSubstr("program")));
}

TEST(MonitorScreen, SecretsOfCommandLinesAreMasked) {
  const std::string text = shown(scene(1), 150, 24);
  EXPECT_THAT(text, HasSubstr("--token ***"));
  EXPECT_THAT(text, Not(HasSubstr("abc")));
}

TEST(MonitorScreen, NamesOfProgramsCannotMoveTheCursor) {
  MonitorScene one = scene(1);
  one.now.devices[0].name = "evil\x1b[2J";
  one.now.devices[0].processes[0].command = "x\x1b]0;title\x07\ny";
  EXPECT_EQ(shown(one, 100, 24).find('\x1b'), std::string::npos);
}

TEST(MonitorScreen, KeysAreListed) {
  MonitorView view;
  press(view, '?');
  const std::string text = shown(scene(2), 80, 24, view);
  for (const char* part : {"quit", "sort programs", "alerts that are over", "Nothing here stops"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  press(view, 'h');
  EXPECT_FALSE(view.shows_keys);
  EXPECT_FALSE(press(view, 'q'));
}

TEST(MonitorScreen, WithoutATerminalEverythingIsShown) {
  MonitorScene many = scene(16);
  const std::string text = shown(many, 100, 0);
  for (unsigned i = 0; i < 16; ++i) EXPECT_THAT(text, HasSubstr(std::to_string(1000 + i)));
  EXPECT_THAT(text, Not(HasSubstr("q quit")));
}

TEST(MonitorScreen, TheHistoryHasAGapWhereNothingWasKnown) {
  EXPECT_EQ(history_line({0.0, std::nullopt, 100.0}, 10), "▁ █");
  EXPECT_EQ(history_line({0.0, 50.0, 100.0}, 2), "▅█") << "the newest";
}

}  // namespace fathom::cli::monitor_screen_test
