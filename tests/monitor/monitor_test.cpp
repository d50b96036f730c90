#include "fathom/monitor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>

#include "scenes.h"

// With the demo's devices, real threads and the real clock; nothing here depends on how long
// anything takes.
namespace fathom::monitor::test {
namespace {

using namespace std::chrono_literals;

MonitorConfig quick_demo(const Folder& folder) {
  MonitorConfig config = folder.config();
  config.demo = true;
  config.monitoring_interval_seconds = 0.01;
  return config;
}

bool comes_true(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(Monitor, SamplesTheDemo) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  EXPECT_TRUE(monitor.devices().empty());
  EXPECT_FALSE(monitor.health().is_healthy) << "it does not run yet";
  monitor.start();
  EXPECT_EQ(monitor.devices().size(), 2u);
  EXPECT_TRUE(comes_true([&] { return monitor.snapshots().size() >= 5; }));
  EXPECT_EQ(monitor.snapshots(2).size(), 2u);
  EXPECT_TRUE(monitor.health().is_healthy) << monitor.health().problem;
  EXPECT_EQ(monitor.health().backends.at(0).name, "demo");
  EXPECT_EQ(monitor.take_snapshot().trigger, "on_demand");
  EXPECT_TRUE(comes_true([&] { return monitor.health().cpu_percent > 0; }));
  monitor.stop();
  EXPECT_FALSE(monitor.health().is_healthy);
}

TEST(Monitor, WithoutStartNothingIsTaken) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  EXPECT_TRUE(monitor.take_snapshot().devices.empty());
  EXPECT_TRUE(monitor.snapshots().empty());
}

TEST(Monitor, ASessionWithoutStartEndsWithTheMonitor) {
  const Folder folder;
  {
    Monitor monitor(quick_demo(folder));
    monitor.start_session("x");
  }
  EXPECT_FALSE(Monitor(quick_demo(folder)).sessions().at(0).was_interrupted);
}

TEST(Monitor, CanBeStartedAgain) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  monitor.start();
  monitor.start();
  monitor.stop();
  monitor.stop();
  monitor.start();
  EXPECT_TRUE(comes_true([&] { return monitor.health().is_healthy; }));
}

TEST(Monitor, StoppingItEndsItsSessions) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  monitor.start();
  const std::string id = monitor.start_session("a");
  EXPECT_EQ(monitor.sessions_total(), 1u);
  monitor.stop();
  ASSERT_EQ(monitor.sessions().size(), 1u);
  EXPECT_TRUE(monitor.sessions()[0].stopped_ns);
  EXPECT_FALSE(monitor.sessions()[0].was_interrupted);
  EXPECT_EQ(monitor.stop_session(id).session.id, id)
      << "it has ended already: the report all the same";
  EXPECT_THROW(monitor.session_report("none"), std::runtime_error);
}

TEST(Monitor, TellsItsListenersInOrder) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  std::vector<std::string> names;
  monitor.subscribe([&](const Event& event) {
    const bool is_snapshot = event.fields.contains("kind") && event.fields.at("kind") == "snapshot";
    if (!is_snapshot) names.push_back(event.name);
  });
  monitor.subscribe([](const Event&) { throw std::runtime_error("a listener that fails"); });
  monitor.start();
  monitor.stop_session(monitor.start_session("x"));
  monitor.publish({.name = "something_else", .time_ns = 0, .fields = {}});
  monitor.stop();
  EXPECT_EQ(names,
            (std::vector<std::string>{"ProfilerStarted", "DeviceFound", "DeviceFound",
                                      "ProfilerStarted", "ProfilingDataGenerated",
                                      "ProfilerStopped", "something_else", "ProfilerStopped"}));
}

TEST(Monitor, AfterUnsubscribeNobodyIsCalled) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  monitor.start();
  for (int i = 0; i < 20; ++i) {
    auto is_alive = std::make_unique<std::atomic<bool>>(true);
    const int subscription =
        monitor.subscribe([&](const Event&) { EXPECT_TRUE(is_alive->load()); });
    monitor.take_snapshot();
    monitor.unsubscribe(subscription);
    is_alive.reset();
  }
}

TEST(Monitor, AListenerMayAskAndUnsubscribe) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  std::atomic<int> calls = 0;
  std::atomic<int> subscription = 0;
  subscription = monitor.subscribe([&](const Event&) {
    ++calls;
    monitor.devices();
    monitor.sessions();
    monitor.unsubscribe(subscription);
  });
  monitor.start();
  EXPECT_TRUE(comes_true([&] { return calls > 0; }));
  monitor.take_snapshot();
  monitor.stop();
  EXPECT_EQ(calls, 1);
}

TEST(Monitor, MayBeUsedByManyThreads) {
  const Folder folder;
  Monitor monitor(quick_demo(folder));
  monitor.start();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) {
        const std::string id = monitor.start_session("s" + std::to_string(i));
        monitor.track_inference(k, id);
        monitor.take_snapshot("thread");
        monitor.alerts();
        monitor.health();
        monitor.session_report(id);
        monitor.stop_session(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(monitor.sessions_total(), 80u);
  EXPECT_EQ(monitor.inference().count, 80u);
  std::set<std::string> ids;
  for (const MonitorSession& session : monitor.sessions()) ids.insert(session.id);
  EXPECT_EQ(ids.size(), 80u);
}

// The file of a session of another program, on a disk that does not answer.
TEST(Monitor, NoSampleWaitsForTheFilesOfSessions) {
  const Folder folder;
  std::filesystem::create_directories(folder.config().output_dir);
  const std::string file = folder.config().output_dir + "/slow.session.jsonl";
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  const int end = open(file.c_str(), O_RDWR);
  ASSERT_EQ(flock(end, LOCK_EX), 0);
  Monitor monitor(quick_demo(folder));
  monitor.start();
  std::size_t listed = 0;
  std::thread reader([&] { listed = monitor.sessions().size(); });
  for (int i = 0; i < 20; ++i) monitor.take_snapshot("while it reads");
  const std::int64_t before = monitor.take_snapshot().time_ns;
  EXPECT_TRUE(comes_true([&] { return monitor.snapshots(1).at(0).time_ns > before; }));
  const std::string line = "{\"session\":{\"id\":\"slow\",\"name\":\"slow\"}}\n";
  EXPECT_EQ(write(end, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  reader.join();
  EXPECT_EQ(listed, 1u);
  close(end);
}

TEST(Monitor, KilledInASessionItIsThereAfterTheRestart) {
  const Folder folder;
  const std::string output = folder.path() + "/sessions";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    execl(FATHOM_BINARY_DIR "/bin/monitor_recording_program", "program", output.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::array<char, 100> id = {};
  ASSERT_GT(read(ends[0], id.data(), id.size() - 1), 0);
  close(ends[0]);
  // Somebody else may look on; the session is not taken for a dead one.
  MonitorConfig config = folder.config();
  Monitor onlooker(config);
  std::uint64_t seen = 0;
  EXPECT_TRUE(comes_true([&] {
    const auto sessions = onlooker.sessions();
    if (sessions.empty()) return false;
    EXPECT_FALSE(sessions[0].was_interrupted);
    const SessionReport report = onlooker.session_report(sessions[0].id);
    seen = report.session.snapshots;
    return seen >= 5 && report.session.inference.count > 0;
  }));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  Monitor next(config);
  const auto sessions = next.sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].id + "\n", std::string(id.data()));
  EXPECT_TRUE(sessions[0].was_interrupted);
  EXPECT_GE(sessions[0].snapshots, seen);
  EXPECT_EQ(next.session_report(sessions[0].id).session.snapshots, sessions[0].snapshots);
  EXPECT_EQ(next.session_report(sessions[0].id).metrics.size(), 2u);
}

}  // namespace
}  // namespace fathom::monitor::test
