#include "devices/watcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "base/error.h"

namespace fathom::devices::watcher_test {

using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};  // a test that waits so long has failed

class Scripted : public Backend {
 public:
  using Script = std::function<Look(int look, const Wanted& wanted, bool discover)>;
  Scripted(const char* name, Script script) : name_(name), script_(std::move(script)) {}
  const char* name() const override { return name_; }
  Look look(const Wanted& wanted, bool discover) override {
    return script_(++looks_, wanted, discover);
  }

 private:
  const char* name_;
  Script script_;
  int looks_ = 0;
};

Look one_device(const std::string& uuid) {
  Look look;
  look.devices.push_back({.uuid = uuid, .name = uuid});
  return look;
}

std::vector<std::unique_ptr<Backend>> list(std::unique_ptr<Backend> a,
                                           std::unique_ptr<Backend> b = nullptr) {
  std::vector<std::unique_ptr<Backend>> all;
  all.push_back(std::move(a));
  if (b) all.push_back(std::move(b));
  return all;
}

// Asks until it holds.
bool comes_true(Watcher& watcher, const std::function<bool(const Devices&)>& holds) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (std::chrono::steady_clock::now() < end) {
    if (holds(watcher.latest())) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return false;
}

WatcherOptions quick() {
  WatcherOptions options;
  options.interval = milliseconds(3);
  options.hung_after = milliseconds(50);
  return options;
}

TEST(Watcher, WithoutBackendsHasNoDevices) {
  Watcher watcher({}, {});
  EXPECT_TRUE(watcher.wait_for_first_look(kLong));
  EXPECT_TRUE(watcher.latest().devices.empty());
  EXPECT_TRUE(watcher.latest().backends.empty());
}

TEST(Watcher, WithNothingToLookAtABackendIsNotListedUntilADiscoveryFindsSomething) {
  std::atomic<bool> is_there = false;
  WatcherOptions options = quick();
  options.discovery_interval = milliseconds(5);
  Watcher watcher(list(std::make_unique<Scripted>("late",
                                                  [&](int, const Wanted&, bool discover) {
                                                    EXPECT_TRUE(discover || is_there);
                                                    if (is_there) return one_device("a");
                                                    return Look{{}, {}, false};
                                                  })),
                  options);
  ASSERT_TRUE(watcher.wait_for_first_look(kLong));
  EXPECT_TRUE(watcher.latest().backends.empty());
  is_there = true;
  ASSERT_TRUE(comes_true(watcher, [](const Devices& now) { return now.devices.size() == 1; }));
  EXPECT_EQ(watcher.latest().backends.at(0).name, "late");
}

TEST(Watcher, ListsWhatItsBackendsTell) {
  Watcher watcher(list(std::make_unique<Scripted>("one", [](auto...) { return one_device("a"); }),
                       std::make_unique<Scripted>("two", [](auto...) { return one_device("b"); })),
                  quick());
  ASSERT_TRUE(watcher.wait_for_first_look(kLong));
  const Devices now = watcher.latest();
  ASSERT_EQ(now.devices.size(), 2u);
  EXPECT_EQ(now.devices[0].uuid, "a");
  EXPECT_EQ(now.devices[1].uuid, "b");
  EXPECT_EQ(now.devices[1].index, 1u);
  EXPECT_TRUE(now.backends[0].is_up);
  EXPECT_EQ(now.backends[1].name, "two");
  EXPECT_TRUE(now.devices[0].age_seconds);
}

TEST(Watcher, HungBackendStallsNeitherTheOthersNorTheEnd) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  auto ended = std::make_shared<std::promise<void>>();
  {
    Watcher watcher(
        list(std::make_unique<Scripted>("hung",
                                        [=](int look, auto...) {
                                          if (look > 1) {
                                            released.wait();
                                            ended->set_value();
                                          }
                                          return one_device("h");
                                        }),
             std::make_unique<Scripted>("well", [](auto...) { return one_device("w"); })),
        quick());
    EXPECT_TRUE(comes_true(watcher, [](const Devices& now) {
      return now.backends[0].is_hung && !now.backends[1].is_hung && now.backends[1].looks > 10;
    }));
    const Devices now = watcher.latest();
    ASSERT_EQ(now.devices.size(), 2u);
    EXPECT_EQ(now.devices[0].uuid, "h");
    EXPECT_EQ(now.devices[0].state, DeviceState::ok);
    // The reading ages: all that was not looked at since.
    EXPECT_GT(*now.devices[0].age_seconds, 0.05);
    EXPECT_TRUE(comes_true(watcher, [&](const Devices& later) {
      return *later.devices[0].age_seconds > *now.devices[0].age_seconds &&
             later.backends[1].looks > now.backends[1].looks;
    }));
  }  // returns while the call still hangs
  release.set_value();
  ended->get_future().wait();
}

TEST(Watcher, FailedBackendSaysWhyAndItsDevicesReturnWithIt) {
  std::atomic<bool> works = true;
  Watcher watcher(list(std::make_unique<Scripted>("flaky",
                                                  [&](int, const Wanted&, bool discover) {
                                                    if (!works) {
                                                      throw base::Error("driver", "not loaded");
                                                    }
                                                    Look look = one_device("a");
                                                    look.devices[0].now.fan_rpm = discover ? 1 : 0;
                                                    return look;
                                                  })),
                  quick());
  ASSERT_TRUE(watcher.wait_for_first_look(kLong));
  works = false;
  ASSERT_TRUE(comes_true(watcher, [](const Devices& now) { return !now.backends[0].is_up; }));
  Devices now = watcher.latest();
  EXPECT_EQ(now.backends[0].problem, "driver: not loaded");
  ASSERT_EQ(now.devices.size(), 1u);
  EXPECT_EQ(now.devices[0].state, DeviceState::lost);
  works = true;
  ASSERT_TRUE(comes_true(watcher, [](const Devices& latest) { return latest.backends[0].is_up; }));
  now = watcher.latest();
  EXPECT_EQ(now.backends[0].problem, "");
  EXPECT_EQ(now.devices.size(), 1u);
  EXPECT_EQ(now.devices[0].state, DeviceState::ok);
}

TEST(Watcher, DiscoversAtFirstAndAfterAFailureButNotEachTime) {
  std::vector<bool> discoveries;  // by the backend's thread, until `seen`
  std::promise<void> seen;
  Watcher watcher(list(std::make_unique<Scripted>("one",
                                                  [&](int look, const Wanted&, bool discover) {
                                                    if (look <= 4) discoveries.push_back(discover);
                                                    if (look == 4) seen.set_value();
                                                    if (look == 2) throw std::runtime_error("no");
                                                    return one_device("a");
                                                  })),
                  quick());
  seen.get_future().wait();
  EXPECT_EQ(discoveries, (std::vector<bool>{true, false, true, false}));
}

TEST(Watcher, AsksForProcessesLessOftenAndKeepsThemMeanwhile) {
  std::atomic<int> asked = 0;
  WatcherOptions options = quick();
  options.process_interval = std::chrono::hours(1);
  Watcher watcher(
      list(std::make_unique<Scripted>("one",
                                      [&](int, const Wanted& wanted, bool) {
                                        Look look = one_device("a");
                                        if (wanted.processes) {
                                          ++asked;
                                          look.devices[0].processes.push_back({.pid = 5});
                                        }
                                        return look;
                                      })),
      options);
  ASSERT_TRUE(comes_true(watcher, [](const Devices& now) { return now.backends[0].looks > 5; }));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(watcher.latest().devices[0].processes.size(), 1u);
}

TEST(Watcher, TellsAnErrorOnce) {
  Watcher watcher(list(std::make_unique<Scripted>("one",
                                                  [](int number, auto...) {
                                                    Look look = one_device("a");
                                                    if (number == 2) {
                                                      look.errors.push_back({"a", 1, 79});
                                                    }
                                                    return look;
                                                  })),
                  quick());
  int told = 0;
  ASSERT_TRUE(comes_true(watcher, [&](const Devices& now) {
    told += static_cast<int>(now.errors.size());
    return now.backends[0].looks > 6;
  }));
  EXPECT_EQ(told, 1);
}

TEST(Watcher, ANewIntervalHoldsAtOnce) {
  WatcherOptions options = quick();
  options.interval = kLong;
  Watcher watcher(list(std::make_unique<Scripted>("one", [](auto...) { return one_device("a"); })),
                  options);
  ASSERT_TRUE(watcher.wait_for_first_look(kLong));
  EXPECT_EQ(watcher.backends().at(0).looks, 1u);
  watcher.set_interval(milliseconds(3));
  EXPECT_TRUE(comes_true(watcher, [](const Devices& now) { return now.backends[0].looks > 3; }));
  EXPECT_GT(watcher.backends().at(0).cpu_seconds, 0);
}

}  // namespace fathom::devices::watcher_test
