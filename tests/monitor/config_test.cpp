#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "monitor/config_fields.h"
#include "monitor/config_text.h"
#include "scenes.h"

namespace fathom::monitor::test {
namespace {

using testing::HasSubstr;

std::string complaint(const std::string& text) {
  try {
    parse_config(text, "fathom.yaml");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(Config, DefaultsAreThoseOfTheSpecification) {
  for (const char* text : {"", "other: 1\n", "gpu_profiler:\n", "gpu_profiler: {}\n"}) {
    const MonitorConfig config = parse_config(text, "fathom.yaml");
    EXPECT_EQ(config.monitoring_interval_seconds, 1.0);
    EXPECT_EQ(config.temperature_critical_celsius, 90);
    EXPECT_EQ(config.max_snapshots, 1000u);
    EXPECT_EQ(config.output_dir, "data/profiling/gpu");
  }
}

TEST(Config, ReadsEverySetting) {
  const MonitorConfig config = parse_config(R"(
gpu_profiler:
  mode: detailed
  level: maximum
  monitoring_interval_seconds: 0.5
  metrics_update_interval_seconds: 7
  device_discovery_interval_seconds: 60
  enable_cuda_profiling: false
  enable_opencl_profiling: false
  enable_thermal_monitoring: false
  enable_power_monitoring: false
  enable_memory_tracking: false
  temperature_warning_celsius: 70
  temperature_critical_celsius: 85.5
  memory_warning_percent: 50
  memory_critical_percent: 60
  utilization_warning_percent: 99
  max_snapshots: 10
  max_profiling_sessions: 3
  output_dir: "some where"
  export_json_reports: false
  demo: true
)",
                                            "fathom.yaml");
  EXPECT_EQ(config.mode, MonitorMode::detailed);
  EXPECT_EQ(config.level, MonitorLevel::maximum);
  EXPECT_EQ(config.monitoring_interval_seconds, 0.5);
  EXPECT_EQ(config.temperature_critical_celsius, 85.5);
  EXPECT_EQ(config.max_snapshots, 10u);
  EXPECT_EQ(config.output_dir, "some where");
  EXPECT_TRUE(config.demo);
  EXPECT_FALSE(config.export_json_reports);
}

TEST(Config, ErrorsNameKeyAndLineAndWhatWouldBeRight) {
  EXPECT_EQ(complaint("gpu_profiler:\n  level: medium\n  mode: fast\n"),
            "fathom.yaml:3: gpu_profiler.mode: must be one of basic, standard, detailed, "
            "comprehensive, not 'fast'");
  EXPECT_EQ(
      complaint("gpu_profiler:\n  monitoring_interval_seconds: soon\n"),
      "fathom.yaml:2: gpu_profiler.monitoring_interval_seconds: must be a number from 0.01 to "
      "3600, not 'soon'");
  EXPECT_EQ(complaint("gpu_profiler:\n  max_snapshots: 2.5\n"),
            "fathom.yaml:2: gpu_profiler.max_snapshots: must be a whole number from 1 to 1000000, "
            "not '2.5'");
  EXPECT_EQ(complaint("gpu_profiler:\n  demo: yes\n"),
            "fathom.yaml:2: gpu_profiler.demo: must be true or false, not 'yes'");
  EXPECT_EQ(complaint("gpu_profiler:\n  demo: [true]\n"),
            "fathom.yaml:2: gpu_profiler.demo: must be a single value");
  EXPECT_EQ(complaint("gpu_profiler:\n  demo: true\n  demo: false\n"),
            "fathom.yaml:3: gpu_profiler.demo: is set twice");
  EXPECT_EQ(complaint("gpu_profiler: 3\n"),
            "fathom.yaml:1: gpu_profiler: must be a map of settings");
  EXPECT_THAT(complaint("- 1\n"), HasSubstr("must be a map with the section 'gpu_profiler'"));
  EXPECT_THAT(complaint("gpu_profiler:\n  a: [1\n"), HasSubstr("invalid YAML"));
}

TEST(Config, AnUnknownSettingIsNamedWithTheNearestThatThereIs) {
  EXPECT_EQ(
      complaint("gpu_profiler:\n  temperature_warning_celcius: 70\n"),
      "fathom.yaml:2: gpu_profiler: unknown setting 'temperature_warning_celcius'. Did you mean "
      "'temperature_warning_celsius'?");
  EXPECT_THAT(complaint("gpu_profiler:\n  colour: blue\n"), HasSubstr("docs/monitoring.md"));
}

TEST(Config, LimitsMustNotContradict) {
  EXPECT_THAT(complaint("gpu_profiler:\n  temperature_warning_celsius: 95\n"),
              HasSubstr("must not be above temperature_critical_celsius (90)"));
  MonitorConfig config;
  config.memory_warning_percent = 99;
  EXPECT_THROW(Monitor{config}, std::runtime_error);
}

TEST(Config, NumbersOutOfTheirRangeAreRefusedHoweverTheyCome) {
  const auto problem = [](auto change) {
    MonitorConfig config;
    change(config);
    EXPECT_THROW(Monitor{config}, std::runtime_error);
    return problem_of(config);
  };
  EXPECT_EQ(problem([](MonitorConfig& c) { c.monitoring_interval_seconds = 1e10; }),
            "monitoring_interval_seconds must be from 0.01 to 3600");
  EXPECT_EQ(problem([](MonitorConfig& c) { c.monitoring_interval_seconds = 0; }),
            "monitoring_interval_seconds must be from 0.01 to 3600");
  EXPECT_NE(problem([](MonitorConfig& c) { c.monitoring_interval_seconds = std::nan(""); }), "");
  EXPECT_NE(problem([](MonitorConfig& c) { c.max_snapshots = 0; }), "");
  EXPECT_EQ(problem_of({}), "");
}

TEST(Config, AnIntervalThatIsNamedIsMeantAsItIs) {
  const auto field = [](std::string_view name) {
    return &*std::ranges::find(config_fields(), name, &ConfigField::name);
  };
  const Setting interval{field("monitoring_interval_seconds"), "0.5", "--interval"};
  const Setting level{field("level"), "high", "--level"};
  MonitorConfig config;
  config.level = MonitorLevel::low;
  apply_settings(config, {});
  EXPECT_EQ(config.level, MonitorLevel::low);
  apply_settings(config, std::vector{interval});
  EXPECT_EQ(config.level, MonitorLevel::medium);
  apply_settings(config, std::vector{level, interval});
  EXPECT_EQ(config.level, MonitorLevel::high);
  EXPECT_THROW(apply_settings(config, std::vector{Setting{interval.field, "soon", "--interval"}}),
               std::runtime_error);
}

TEST(Config, HostileNestingIsRefused) {
  EXPECT_THAT(complaint(std::string(100'000, '[')), HasSubstr("nested too deeply"));
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  EXPECT_THAT(complaint(dashes), HasSubstr("nested too deeply"));
}

TEST(Config, ADirectoryIsCalledOne) {
  try {
    read_monitor_config("/");
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/: is a directory"));
  }
}

TEST(Config, AFileThatIsMissingIsNamed) {
  EXPECT_THROW(read_monitor_config("/nowhere/fathom.yaml"), std::runtime_error);
}

TEST(Config, TheLevelSetsTheRate) {
  MonitorConfig config;
  const auto seconds = [&](MonitorLevel level) {
    config.level = level;
    return std::chrono::duration<double>(sampling_interval(config)).count();
  };
  EXPECT_EQ(seconds(MonitorLevel::low), 2);
  EXPECT_EQ(seconds(MonitorLevel::medium), 1);
  EXPECT_EQ(seconds(MonitorLevel::high), 0.5);
  EXPECT_EQ(seconds(MonitorLevel::maximum), 0.1);
}

TEST(Config, TheDocumentationListsEverySetting) {
  for (const char* name : {"/docs/monitoring.md", "/docs/fathom.yaml"}) {
    std::ifstream file(FATHOM_SOURCE_DIR + std::string(name));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const ConfigField& field : config_fields()) {
      EXPECT_NE(text.find(field.name), std::string::npos) << field.name << " in " << name;
    }
  }
}

TEST(Config, TheExampleIsTheDefaults) {
  const MonitorConfig example = read_monitor_config(FATHOM_SOURCE_DIR "/docs/fathom.yaml");
  const MonitorConfig defaults;
  for (const ConfigField& field : config_fields()) {
    std::visit([&](auto member) { EXPECT_EQ(example.*member, defaults.*member) << field.name; },
               field.member);
  }
}

}  // namespace
}  // namespace fathom::monitor::test
