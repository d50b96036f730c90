#include "monitor/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/schema.h"
#include "monitor/core.h"
#include "scenes.h"

namespace fathom::monitor::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class SessionsOfAFolder : public testing::Test {
 protected:
  void sample(Core& core, int from, int to) {
    for (int second = from; second < to; ++second) {
      core.take(at(second), look({hot(40 + second % 10)}), "interval");
    }
  }
  std::string file_of(const std::string& id) const {
    return folder_.config().output_dir + "/" + id + ".session.jsonl";
  }
  // A session whose writer is gone without having ended it, as after kill -9.
  std::string interrupted(int samples) {
    Core core(folder_.config());
    const std::string id = core.start_session("run", "", {}, at(0));
    sample(core, 0, samples);
    core.track_inference(12, id, at(samples));
    core.track_inference(14, id, at(samples + 1));
    return id;
  }

  Folder folder_;
};

TEST_F(SessionsOfAFolder, ASessionHasWhatHappenedInIt) {
  Core core(folder_.config());
  sample(core, 0, 10);
  const std::string id = core.start_session("night", "the long one", {}, at(10));
  sample(core, 10, 30);
  core.take(at(30), look({hot(85)}), "interval");
  core.track_inference(5, id, at(30));
  const SessionReport report = core.stop_session(id, at(31));
  EXPECT_EQ(report.session.name, "night");
  EXPECT_EQ(report.session.description, "the long one");
  EXPECT_EQ(report.session.started_ns, at(10));
  EXPECT_EQ(report.session.stopped_ns, at(31));
  EXPECT_FALSE(report.session.was_interrupted);
  EXPECT_EQ(report.session.snapshots, 21u);
  EXPECT_EQ(report.snapshots.size(), 21u);
  EXPECT_EQ(report.session.inference.count, 1u);
  ASSERT_EQ(report.alerts.size(), 1u);
  EXPECT_EQ(report.alerts[0].kind, AlertKind::thermal);
  const MetricRange heat = report.metrics.at("gpu-0").at("temperature_celsius");
  EXPECT_EQ(heat.least, 40);
  EXPECT_EQ(heat.most, 85);
  EXPECT_NEAR(*heat.mean, (2 * 445.0 + 85) / 21, 1e-9);
  EXPECT_FALSE(report.metrics.at("gpu-0").contains("fan_percent")) << "it was never known";
}

TEST_F(SessionsOfAFolder, TheFileSaysTheSameAsTheMemory) {
  Core core(folder_.config());
  const std::string id = core.start_session("x", "", {}, at(0));
  sample(core, 0, 50);
  for (int i = 1; i <= 100; ++i) core.track_inference(i, id, at(50));
  const SessionReport told = core.stop_session(id, at(51));
  const SessionReport read = read_session(file_of(id)).report();
  EXPECT_EQ(read.session.snapshots, told.session.snapshots);
  EXPECT_EQ(read.session.stopped_ns, told.session.stopped_ns);
  EXPECT_EQ(read.session.inference.sum_ms, 5050);
  EXPECT_EQ(read.session.inference.p95_ms, told.session.inference.p95_ms);
  EXPECT_EQ(read.session.inference.buckets, told.session.inference.buckets);
  ASSERT_EQ(read.snapshots.size(), told.snapshots.size());
  EXPECT_EQ(read.snapshots[7].devices[0].now.power_watts, 123.4);
  EXPECT_EQ(read.metrics.at("gpu-0").at("temperature_celsius").mean,
            told.metrics.at("gpu-0").at("temperature_celsius").mean);
  EXPECT_EQ(read.session.config.output_dir, folder_.config().output_dir);
}

TEST_F(SessionsOfAFolder, AnInterruptedOneIsListedWithItsSamples) {
  const std::string id = interrupted(20);
  Core next(folder_.config());
  const auto sessions = next.sessions().list();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].id, id);
  EXPECT_TRUE(sessions[0].was_interrupted);
  EXPECT_EQ(sessions[0].snapshots, 20u);
  EXPECT_EQ(sessions[0].stopped_ns, at(19)) << "the last that is known of it";
  EXPECT_EQ(sessions[0].inference.count, 2u);
  EXPECT_EQ(read_session(file_of(id)).report().snapshots.size(), 20u);
  EXPECT_THAT(text_of_file(file_of(id)), HasSubstr("\"was_interrupted\":true"))
      << "for the next time";
  EXPECT_EQ(next.sessions().list()[0].snapshots, 20u);
}

TEST_F(SessionsOfAFolder, AnInterruptedOneGetsItsReportAsJson) {
  const std::string id = interrupted(20);
  const std::string report = folder_.config().output_dir + "/" + id + ".json";
  EXPECT_FALSE(std::filesystem::exists(report));
  Core next(folder_.config());
  next.sessions().list();
  EXPECT_NE(text_of_file(report).find("\"was_interrupted\":true"), std::string::npos);
}

TEST_F(SessionsOfAFolder, AListThatIsOlderThanTheEndOfOneShowsItsEnd) {
  Core core(folder_.config());
  const std::string id = core.start_session("x", "", {}, at(0));
  const SessionFolder::Listing before = core.sessions().folder().list();
  core.stop_session(id, at(1));
  ASSERT_EQ(core.sessions().list(before).size(), 1u);
  EXPECT_EQ(core.sessions().list(before)[0].stopped_ns, at(1));
}

TEST_F(SessionsOfAFolder, OneThatRunsElsewhereIsNotTakenForInterrupted) {
  Core writer(folder_.config());
  const std::string id = writer.start_session("x", "", {}, at(0));
  Core reader(folder_.config());
  const auto sessions = reader.sessions().list();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_FALSE(sessions[0].was_interrupted);
  EXPECT_FALSE(sessions[0].stopped_ns);
  writer.stop_session(id, at(1));
  EXPECT_EQ(reader.sessions().list()[0].stopped_ns, at(1));
}

TEST_F(SessionsOfAFolder, AFileThatIsCutAnywhereIsReadAsFarAsItGoes) {
  const std::string id = interrupted(20);
  const std::string whole = text_of_file(file_of(id));
  std::uint64_t before = 0;
  for (std::size_t bytes = 0; bytes <= whole.size(); bytes += 97) {
    write_file(file_of(id), whole.substr(0, bytes));
    const auto session = list_session(file_of(id));
    ASSERT_TRUE(session);
    EXPECT_EQ(session->id, id);
    EXPECT_TRUE(session->was_interrupted);
    EXPECT_GE(session->snapshots, before);
    before = session->snapshots;
    EXPECT_EQ(read_session(file_of(id)).session().snapshots, session->snapshots)
        << "after its end was added";
  }
  EXPECT_EQ(before, 20u);
}

TEST_F(SessionsOfAFolder, ADamagedLineCostsThatLine) {
  const std::string id = interrupted(20);
  std::string text = text_of_file(file_of(id));
  const std::size_t sample = text.find("{\"time_ns\"", text.size() / 2);
  text[sample + 30] = '\0';
  text.insert(text.find('\n', sample) + 1, "\xFF\xFE garbage\n[1,2,3]\n{\"device\":{\"id\":-7}}\n");
  write_file(file_of(id), text);
  EXPECT_EQ(list_session(file_of(id))->snapshots, 19u);
}

TEST_F(SessionsOfAFolder, AFileWithoutItsFirstLineStillHasItsSamples) {
  const std::string id = interrupted(20);
  const std::string text = text_of_file(file_of(id));
  write_file(file_of(id), text.substr(text.find('\n') + 1));
  const auto session = list_session(file_of(id));
  EXPECT_EQ(session->id, id);
  EXPECT_EQ(session->snapshots, 20u);
  EXPECT_EQ(session->started_ns, at(0));
}

TEST_F(SessionsOfAFolder, AnEmptyOrForeignFileIsListedAndNoMore) {
  std::filesystem::create_directories(folder_.config().output_dir);
  write_file(file_of("empty"), "");
  write_file(file_of("foreign"), std::string(100'000, 'x'));
  write_file(file_of("not an id"), "");
  Core core(folder_.config());
  EXPECT_EQ(core.sessions().list().size(), 2u);
}

TEST_F(SessionsOfAFolder, EachWriteIsOnDiskAtOnce) {
  Core core(folder_.config());
  const std::string id = core.start_session("x", "", {}, at(0));
  sample(core, 0, 3);
  EXPECT_EQ(read_session(file_of(id)).session().snapshots, 3u);
  core.track_inference(1, id, at(3.2));
  sample(core, 4, 5);  // within a second of the request
  EXPECT_EQ(read_session(file_of(id)).session().inference.count, 1u);
}

TEST_F(SessionsOfAFolder, TheOldestThatEndedMakesRoom) {
  MonitorConfig config = folder_.config();
  config.max_profiling_sessions = 2;
  Core core(config);
  const std::string first = core.start_session("1", "", {}, at(0));
  core.stop_session(first, at(1));
  core.start_session("2", "", {}, at(10));
  core.start_session("3", "", {}, at(20));
  EXPECT_FALSE(std::filesystem::exists(file_of(first)));
  EXPECT_FALSE(std::filesystem::exists(config.output_dir + "/" + first + ".json"));
  EXPECT_THROW(core.start_session("4", "", {}, at(30)), base::Error);
  const auto sessions = core.sessions().list();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].name, "3") << "the newest first";
}

TEST_F(SessionsOfAFolder, WithoutAPlaceForItThereIsNoSession) {
  MonitorConfig config;
  write_file(folder_.path() + "/file", "");
  config.output_dir = folder_.path() + "/file/below";
  Core core(config);
  EXPECT_THROW(core.start_session("x", "", {}, at(0)), base::Error);
  EXPECT_THROW(core.start_session("", "", {}, at(0)), base::Error);
  EXPECT_TRUE(core.sessions().list().empty());
}

TEST_F(SessionsOfAFolder, AnIdIsNoPath) {
  write_file(folder_.path() + "/x.session.jsonl", "");
  Core core(folder_.config());
  for (const char* id : {"../x", "", "x", "a/b", "..%2Fx"}) {
    EXPECT_THROW(core.sessions().path_of(id), base::Error) << id;
  }
}

TEST_F(SessionsOfAFolder, ASessionMaySampleAtItsOwnPace) {
  Core core(folder_.config());
  MonitorConfig slow = folder_.config();
  slow.monitoring_interval_seconds = 5;
  MonitorConfig quick = folder_.config();
  quick.monitoring_interval_seconds = 0.5;
  EXPECT_EQ(core.tick_ns(), kSecond);
  const std::string a = core.start_session("slow", "", slow, at(0));
  EXPECT_EQ(core.tick_ns(), kSecond);
  const std::string b = core.start_session("quick", "", quick, at(0));
  EXPECT_EQ(core.tick_ns(), kSecond / 2);
  for (int i = 0; i < 120; ++i) {
    const double jitter = i % 3 * 0.02;
    core.take(at(i * 0.5 + jitter), look({gpu()}), "interval");
  }
  EXPECT_EQ(core.snapshots(0).size(), 60u);
  EXPECT_EQ(core.stop_session(a, at(60)).session.snapshots, 12u);
  EXPECT_EQ(core.stop_session(b, at(60)).session.snapshots, 120u);
  EXPECT_EQ(core.tick_ns(), kSecond);
}

TEST_F(SessionsOfAFolder, ASessionMayHaveLimitsOfItsOwn) {
  Core core(folder_.config());
  MonitorConfig strict = folder_.config();
  strict.temperature_warning_celsius = 45;
  const std::string id = core.start_session("strict", "", strict, at(0));
  core.take(at(0), look({hot(50)}), "interval");
  EXPECT_TRUE(core.alerts().empty());
  const SessionReport report = core.stop_session(id, at(1));
  ASSERT_EQ(report.alerts.size(), 1u);
  EXPECT_EQ(report.alerts[0].limit, 45);
  strict.temperature_critical_celsius = 40;
  EXPECT_THROW(core.start_session("wrong", "", strict, at(2)), base::Error);
}

TEST_F(SessionsOfAFolder, WhatASessionLeavesOutIsNotInItsFile) {
  Core core(folder_.config());
  MonitorConfig config = folder_.config();
  config.enable_power_monitoring = false;
  const std::string id = core.start_session("x", "", config, at(0));
  core.take(at(0), look({gpu()}), "interval");
  EXPECT_FALSE(core.stop_session(id, at(1)).metrics.at("gpu-0").contains("power_watts"));
}

TEST_F(SessionsOfAFolder, InModeComprehensiveProgramsAreRecorded) {
  MonitorConfig config = folder_.config();
  config.mode = MonitorMode::comprehensive;
  Core core(config);
  const std::string id = core.start_session("x", "", {}, at(0));
  GpuDevice device = gpu();
  device.processes = {{.pid = 77, .name = "python3", .command = "python3 --password p"}};
  core.take(at(0), look({device}), "interval");
  EXPECT_THAT(text_of_file(file_of(id)), HasSubstr("[0,77,\"python3\",null,null]"));
  EXPECT_THAT(text_of_file(file_of(id)), testing::Not(HasSubstr("password")));
}

TEST_F(SessionsOfAFolder, TheReportIsExportedAsJson) {
  Core core(folder_.config());
  const std::string id = core.start_session("x", "", {}, at(0));
  sample(core, 0, 12);
  core.track_inference(3, id, at(12));
  const SessionReport report = core.stop_session(id, at(12));
  const auto json = nlohmann::json::parse(text_of_file(report.json_path));
  EXPECT_EQ(cli::faults_against("monitor_session", json), std::vector<std::string>{});
  EXPECT_EQ(json["session"]["id"], id);
  EXPECT_EQ(json["session"]["inference"]["count"], 1);
  EXPECT_EQ(json["config"]["mode"], "standard");
  EXPECT_EQ(json["history"]["times_ms"].size(), 12u);
  EXPECT_EQ(json["history"]["devices"]["gpu-0"]["power_watts"][0], 123.4);
  EXPECT_EQ(json["metrics"]["gpu-0"]["utilization_percent"]["mean"], 60);
  EXPECT_FALSE(json["metrics"]["gpu-0"].contains("throttle"));
}

TEST_F(SessionsOfAFolder, ALongSessionKeepsItsMemorySmall) {
  MonitorConfig config = folder_.config();
  config.max_snapshots = 100;
  Core core(config);
  const std::string id = core.start_session("x", "", {}, at(0));
  sample(core, 0, 5000);
  const SessionReport report = core.stop_session(id, at(5000));
  EXPECT_EQ(report.session.snapshots, 5000u);
  EXPECT_LE(report.snapshots.size(), 100u);
  EXPECT_GE(report.snapshots.size(), 50u);
}

}  // namespace
}  // namespace fathom::monitor::test
