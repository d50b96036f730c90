#include "monitor/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "monitor/monitor_json.h"
#include "scenes.h"

namespace fathom::monitor::test {
namespace {

std::vector<std::string> names(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) all.push_back(event.name);
  return all;
}

std::vector<Event> events_but_snapshots(Core& core) {
  std::vector<Event> all = core.take_events();
  std::erase_if(all, [](const Event& event) {
    return event.fields.contains("kind") && event.fields.at("kind") == "snapshot";
  });
  return all;
}

TEST(Core, ProgramsAreInTheNewestSnapshotAlone) {
  const Folder folder;
  Core core(folder.config());
  GpuDevice device = gpu();
  device.processes = {{.pid = 1}};
  core.take(at(0), look({device}), "interval");
  core.take(at(1), look({device}), "interval");
  const auto all = core.snapshots(0);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].devices[0].processes.empty());
  EXPECT_EQ(all[1].devices[0].processes.size(), 1u);
}

TEST(Core, ASnapshotOnDemandIsKeptWithItsTrigger) {
  const Folder folder;
  Core core(folder.config());
  core.take(at(0), look({gpu()}), "interval");
  core.take(at(0.1), look({gpu()}), "before_the_batch");
  ASSERT_EQ(core.snapshots(0).size(), 2u);
  EXPECT_EQ(core.snapshots(0)[1].trigger, "before_the_batch");
}

TEST(Core, TellsOfDevicesThatComeAndGo) {
  const Folder folder;
  Core core(folder.config());
  GpuDevice lost = gpu("gpu-1", 1);
  lost.state = DeviceState::lost;
  core.take(at(0), look({gpu("gpu-0"), gpu("gpu-1", 1)}), "interval");
  EXPECT_THAT(names(events_but_snapshots(core)),
              testing::ElementsAre("DeviceFound", "DeviceFound"));
  core.take(at(1), look({gpu("gpu-0"), lost}), "interval");
  EXPECT_THAT(names(events_but_snapshots(core)),
              testing::ElementsAre("DeviceLost", "PerformanceAlertTriggered"));
  core.take(at(2), look({gpu("gpu-0"), lost}), "interval");
  EXPECT_TRUE(events_but_snapshots(core).empty());
  core.take(at(3), look({gpu("gpu-0"), gpu("gpu-1", 1)}), "interval");
  EXPECT_THAT(names(events_but_snapshots(core)),
              testing::ElementsAre("DeviceFound", "AlertCleared"));
}

// As the watcher tells of a device whose driver hangs: what it said last, older and older.
GpuDevice hung(GpuDevice device, double age_seconds) {
  device.age_seconds = age_seconds;
  return device;
}

TEST(Core, WhatAHungDriverSaidLastIsNotTakenForNow) {
  const Folder folder;
  Core core(folder.config());
  const std::string session = core.start_session("s", "", {}, at(0));
  GpuDevice device = hot(85);
  device.processes = {{.pid = 1, .name = "train", .memory_bytes = 1'000'000'000}};
  core.take(at(0), look({device}), "interval");
  ASSERT_EQ(core.alerts_total(AlertKind::thermal), 1u);
  for (int t = 1; t <= 100; ++t) core.take(at(t), look({hung(device, t)}), "interval");

  const GpuDevice& now = core.newest().devices[0];
  EXPECT_FALSE(now.now.temperature_celsius);
  EXPECT_FALSE(now.now.utilization_percent);
  EXPECT_FALSE(now.processes.at(0).memory_bytes);
  EXPECT_EQ(now.age_seconds, 100);
  EXPECT_FALSE(core.alerts().at(0).cleared_ns) << "nobody knows that it has cooled down";
  EXPECT_EQ(core.alerts_total(AlertKind::utilization), 0u) << "nor that it is busy";
  EXPECT_TRUE(core.snapshots(0)[10].devices[0].now.temperature_celsius) << "ten seconds old";
  EXPECT_FALSE(core.snapshots(0)[11].devices[0].now.temperature_celsius);

  core.take(at(101), look({hung(hot(50), 0.2)}), "interval");
  EXPECT_TRUE(core.alerts().at(0).cleared_ns);
  const SessionReport report = core.stop_session(session, at(102));
  EXPECT_EQ(report.snapshots.size(), 102u);
  EXPECT_FALSE(report.snapshots[50].devices[0].now.temperature_celsius);
  EXPECT_NEAR(*report.metrics.at("gpu-0").at("temperature_celsius").mean, (11 * 85 + 50) / 12.0,
              1e-9);
  std::string history;
  base::JsonWriter json(history);
  write_history(json, report.snapshots);
  EXPECT_THAT(history, testing::HasSubstr("85,85,null,null"));
}

TEST(Core, AUtilizationThatIsOldRaisesNothing) {
  const Folder folder;
  Core core(folder.config());
  GpuDevice busy = gpu();
  busy.now.utilization_percent = 100;
  for (int t = 0; t <= 200; ++t) core.take(at(t), look({hung(busy, t)}), "interval");
  EXPECT_EQ(core.alerts_total(AlertKind::utilization), 0u);
}

TEST(Core, ADeviceThatNeedsAResetIsAlarming) {
  const Folder folder;
  Core core(folder.config());
  GpuDevice broken = gpu();
  broken.needs_reset = true;
  core.take(at(0), look({broken}), "interval");
  ASSERT_EQ(core.alerts().size(), 1u);
  EXPECT_EQ(core.alerts()[0].kind, AlertKind::device_lost);
  EXPECT_EQ(core.alerts()[0].message, "works again only after a reset");
  core.take(at(1), look({gpu()}), "interval");
  EXPECT_TRUE(core.alerts()[0].cleared_ns);
  EXPECT_FALSE(core.snapshots(0)[0].devices[0].needs_reset) << "history keeps figures alone";
}

TEST(Core, ASessionWithAnIntervalOutOfRangeIsRefused) {
  const Folder folder;
  Core core(folder.config());
  MonitorConfig config = folder.config();
  config.monitoring_interval_seconds = 1e10;
  EXPECT_THROW(core.start_session("s", "", config, at(0)), base::Error);
}

TEST(Core, CountsAlertsByKindAndKeepsThoseThatAreOver) {
  const Folder folder;
  Core core(folder.config());
  core.take(at(0), look({hot(85)}), "interval");
  ASSERT_EQ(core.alerts().size(), 1u);
  EXPECT_FALSE(core.alerts()[0].cleared_ns);
  core.take(at(1), look({hot(50)}), "interval");
  ASSERT_EQ(core.alerts().size(), 1u);
  EXPECT_EQ(core.alerts()[0].cleared_ns, at(1));
  EXPECT_EQ(core.alerts_total(AlertKind::thermal), 1u);
  EXPECT_EQ(core.alerts_total(AlertKind::memory), 0u);
}

TEST(Core, OfAlertsThatAreOverTheLastHundredAreKept) {
  const Folder folder;
  Core core(folder.config());
  for (int i = 0; i < 250; ++i) {
    core.take(at(200.0 * i), look({hot(85)}), "interval");
    core.take(at(200.0 * i + 50), look({hot(50)}), "interval");
  }
  EXPECT_EQ(core.alerts().size(), 100u);
  EXPECT_EQ(core.alerts().back().id, 250u);
  EXPECT_EQ(core.alerts_total(AlertKind::thermal), 250u);
}

TEST(Core, FindsALeakWhenItsWindowIsFull) {
  const Folder folder;
  Core core(folder.config());
  for (int t = 0; t < 300; ++t) {
    GpuDevice device = gpu();
    device.processes = {
        {.pid = 9, .name = "leaky", .memory_bytes = static_cast<std::int64_t>(t * kMb / 6)}};
    core.take(at(t), look({device}), "interval");
  }
  EXPECT_EQ(core.alerts_total(AlertKind::leak), 1u);
}

TEST(Core, EventsFromOutsideStartAndStopSessions) {
  const Folder folder;
  Core core(folder.config());
  core.handle({"session_started", at(0), {{"session", "serving"}}});
  ASSERT_EQ(core.sessions().running().size(), 1u);
  core.handle({"inference_completed", at(1), {{"session", "serving"}, {"ms", "12.5"}}});
  core.handle({"inference_completed", at(1), {{"ms", "2"}}});
  EXPECT_EQ(core.inference().count, 2u);
  core.handle({"session_ended", at(2), {{"session", "serving"}}});
  EXPECT_TRUE(core.sessions().running().empty());
  EXPECT_EQ(core.sessions().list()[0].inference.sum_ms, 12.5);
  EXPECT_THAT(names(core.take_events()),
              testing::ElementsAre("ProfilerStarted", "ProfilingDataGenerated", "ProfilerStopped"));
}

TEST(Core, AShutdownEndsEverySession) {
  const Folder folder;
  Core core(folder.config());
  core.start_session("a", "", {}, at(0));
  core.start_session("b", "", {}, at(0));
  core.handle({"system_shutdown_started", at(1), {}});
  EXPECT_TRUE(core.sessions().running().empty());
  for (const MonitorSession& session : core.sessions().list()) {
    EXPECT_EQ(session.stopped_ns, at(1));
    EXPECT_FALSE(session.was_interrupted);
  }
}

TEST(Core, EventsThatCannotBeFollowedAreRefusedAndNoMore) {
  const Folder folder;
  Core core(folder.config());
  for (const Event& event :
       {Event{"session_ended", at(0), {{"session", "none"}}},
        Event{"inference_completed", at(0), {{"ms", "fast"}}},
        Event{"inference_completed", at(0), {}}, Event{"session_started", at(0), {}}}) {
    core.handle(event);
    const auto events = core.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].name, "EventRefused");
    EXPECT_EQ(events[0].fields.at("event"), event.name);
  }
}

TEST(Core, RequestsOfASessionThatDoesNotRunAreAnError) {
  const Folder folder;
  Core core(folder.config());
  EXPECT_THROW(core.track_inference(1, "none", at(0)), base::Error);
  EXPECT_EQ(core.inference().count, 0u);
}

TEST(Core, EventsThatNobodyTakesDoNotFillTheMemory) {
  const Folder folder;
  Core core(folder.config());
  for (int i = 0; i < 30'000; ++i) core.add_event("x", at(i), {});
  EXPECT_EQ(core.take_events().size(), 10'000u);
}

}  // namespace
}  // namespace fathom::monitor::test
