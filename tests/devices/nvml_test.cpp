// The NVML backend against a library of our own (fake_nvml.cpp).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "devices/backend.h"
#include "devices/known_devices.h"
#include "devices/watcher.h"

namespace fathom::devices::nvml_test {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Nvml : public testing::Test {
 protected:
  Nvml() : folder_(fs::temp_directory_path() / ("nvml_test_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    ::setenv("FATHOM_FAKE_NVML", (folder_ / "scenario").c_str(), 1);
    roots_ = {.sys = folder_ / "sys", .proc = folder_ / "proc"};
  }
  ~Nvml() override { fs::remove_all(folder_); }

  void scenario(const std::string& text) {
    write("next", text);
    // A change is seen by the time of the file, which must move.
    fs::last_write_time(folder_ / "next", fs::file_time_type(std::chrono::seconds(++changes_)));
    fs::rename(folder_ / "next", folder_ / "scenario");
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::unique_ptr<Backend> open(const std::string& variant = "") {
    ::setenv("FATHOM_NVML", (FATHOM_BINARY_DIR "/lib/libfake_nvml" + variant + ".so").c_str(), 1);
    return nvml_backend(roots_);
  }
  // Looks until it holds, as a watcher would.
  template <typename Holds>
  static bool comes_true(Backend& backend, const Holds& holds) {
    for (int i = 0; i < 6000; ++i) {
      try {
        if (holds(backend.look({}, i % 10 == 0))) return true;
      } catch (const base::Error&) {
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  fs::path folder_;
  Roots roots_;
  static inline int changes_ = 1000;
};

TEST_F(Nvml, IsNotThereWithoutItsLibrary) {
  ::setenv("FATHOM_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
  EXPECT_EQ(nvml_backend(roots_), nullptr);
}

TEST_F(Nvml, TellsEachMetricInItsUnit) {
  scenario("devices 2");
  const Look look = open()->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  const GpuDevice& gpu = look.devices[1];
  EXPECT_EQ(gpu.uuid, "GPU-fake-1");
  EXPECT_EQ(gpu.pci_address, "0000:01:00.0");
  EXPECT_EQ(gpu.name, "Fake GPU");
  EXPECT_EQ(gpu.driver, "550.54.15");
  EXPECT_EQ(gpu.memory_total_bytes, 1000);
  EXPECT_EQ(gpu.now.memory_used_bytes, 300);  // without what the driver reserves
  EXPECT_EQ(gpu.now.memory_reserved_bytes, 100);
  EXPECT_EQ(gpu.now.utilization_percent, 71);
  EXPECT_EQ(gpu.now.memory_utilization_percent, 40);
  EXPECT_EQ(gpu.now.temperature_celsius, 61);
  EXPECT_EQ(gpu.now.memory_temperature_celsius, 70);
  EXPECT_EQ(gpu.now.power_watts, 251.5);
  EXPECT_EQ(gpu.power_limit_watts, 350);
  EXPECT_EQ(gpu.now.energy_joules, 123);
  EXPECT_EQ(gpu.now.core_clock_hz, 1.41e9);
  EXPECT_EQ(gpu.max_memory_clock_hz, 2.619e9);
  EXPECT_EQ(gpu.now.fan_percent, 33);
  EXPECT_EQ(gpu.now.throttle, static_cast<std::uint32_t>(ThrottleReason::hardware_thermal));
  EXPECT_EQ(gpu.now.ecc_corrected, 5u);
  EXPECT_EQ(gpu.now.ecc_uncorrected, 0u);
  EXPECT_EQ(gpu.now.encoder_percent, 3);
  EXPECT_FALSE(gpu.now.decoder_percent);  // the library has no such function
  EXPECT_EQ(gpu.slowdown_celsius, 92);
  EXPECT_EQ(gpu.shutdown_celsius, 97);
}

TEST_F(Nvml, WhatIsNotSupportedIsAbsent) {
  for (const std::string what : {"utilization", "memory", "temperature", "power", "energy", "clock",
                                 "fan", "throttle", "ecc", "encoder", "fields", "threshold"}) {
    scenario("unsupported " + what);
    const GpuDevice gpu = open()->look({}, true).devices.at(0);
    SCOPED_TRACE(what);
    EXPECT_EQ(gpu.state, DeviceState::ok);
    EXPECT_EQ(gpu.now.utilization_percent.has_value(), what != "utilization");
    EXPECT_EQ(gpu.now.memory_used_bytes.has_value(), what != "memory");
    EXPECT_EQ(gpu.now.temperature_celsius.has_value(), what != "temperature");
    EXPECT_EQ(gpu.now.power_watts.has_value(), what != "power");
    EXPECT_EQ(gpu.now.energy_joules.has_value(), what != "energy");
    EXPECT_EQ(gpu.now.core_clock_hz.has_value(), what != "clock");
    EXPECT_EQ(gpu.now.fan_percent.has_value(), what != "fan");
    EXPECT_EQ(gpu.now.throttle.has_value(), what != "throttle");
    EXPECT_EQ(gpu.now.ecc_corrected.has_value(), what != "ecc");
    EXPECT_EQ(gpu.now.encoder_percent.has_value(), what != "encoder");
    EXPECT_EQ(gpu.now.memory_temperature_celsius.has_value(), what != "fields");
    EXPECT_EQ(gpu.slowdown_celsius.has_value(), what != "threshold");
  }
}

TEST_F(Nvml, AnOldDriverTellsWhatItCan) {
  scenario("process 4711 64");
  const GpuDevice gpu = open("_old")->look({}, true).devices.at(0);
  EXPECT_EQ(gpu.now.memory_used_bytes, 400);
  EXPECT_FALSE(gpu.now.memory_reserved_bytes);
  EXPECT_FALSE(gpu.now.throttle);
  EXPECT_EQ(gpu.power_limit_watts, 400);
  ASSERT_EQ(gpu.processes.size(), 1u);
  EXPECT_EQ(gpu.processes[0].memory_bytes, 64);
}

TEST_F(Nvml, ProcessesOfBothSizesOfElementAreListedOnce) {
  write("proc/4711/cmdline", std::string("/usr/bin/train\0--token\0x\0", 25));
  write("proc/4711/stat", "4711 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 0");
  for (const std::string variant : {"", "_long"}) {
    scenario("process 12 -\nprocess 4711 64\nprocess 13 128");
    const GpuDevice gpu = open(variant)->look({}, true).devices.at(0);
    SCOPED_TRACE(variant);
    ASSERT_EQ(gpu.processes.size(), 3u);
    EXPECT_EQ(gpu.processes[0].pid, 13);
    EXPECT_EQ(gpu.processes[1].memory_bytes, 64);
    EXPECT_EQ(gpu.processes[1].name, "train");
    EXPECT_EQ(gpu.processes[1].command, "/usr/bin/train --token x");
    EXPECT_EQ(gpu.processes[1].start_ticks, 777u);
    EXPECT_EQ(gpu.processes[2].pid, 12);
    EXPECT_FALSE(gpu.processes[2].memory_bytes);  // all ones
  }
}

TEST_F(Nvml, OneLostGpuHidesNoOtherAndComesBack) {
  scenario("devices 8");
  const std::unique_ptr<Backend> backend = open();
  EXPECT_EQ(backend->look({}, true).devices.size(), 8u);
  backend->look({}, false);  // from here on errors are waited for
  scenario("devices 8\nlost 3");
  const Look look = backend->look({}, false);
  ASSERT_EQ(look.devices.size(), 8u);
  EXPECT_EQ(look.devices[3].state, DeviceState::lost);
  EXPECT_EQ(look.devices[3].uuid, "GPU-fake-3");
  EXPECT_EQ(look.devices[4].state, DeviceState::ok);
  EXPECT_EQ(look.devices[4].now.utilization_percent, 74);
  scenario("devices 8");
  EXPECT_TRUE(comes_true(*backend, [](const Look& later) {
    return later.devices.size() == 8 && later.devices[3].state == DeviceState::ok;
  }));
}

TEST_F(Nvml, AGpuThatIsLostFromTheStartIsListedByItsAddress) {
  for (const std::string address : {"0000:00:00.0", "0000:01:00.0"}) {
    write("sys/bus/pci/devices/" + address + "/vendor", "0x10de\n");
    write("sys/bus/pci/devices/" + address + "/class", "0x030200\n");
  }
  scenario("devices 2\nlost 1");
  const std::unique_ptr<Backend> backend = open();
  KnownDevices known(1);
  const Look look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  EXPECT_EQ(look.devices[1].state, DeviceState::lost);
  EXPECT_EQ(look.devices[1].uuid, "pci-0000:01:00.0");
  known.take(0, look.devices, true, {});
  scenario("devices 2");
  EXPECT_TRUE(comes_true(*backend, [&](const Look& later) {
    known.take(0, later.devices, true, {});
    return known.list({}).at(1).state == DeviceState::ok;
  }));
  EXPECT_EQ(known.list({}).size(), 2u);
  EXPECT_EQ(known.list({}).at(1).uuid, "GPU-fake-1");
}

TEST_F(Nvml, AGpuThatIsAddedIsFound) {
  const auto add = [&](const std::string& address) {
    write("sys/bus/pci/devices/" + address + "/vendor", "0x10de\n");
    write("sys/bus/pci/devices/" + address + "/class", "0x030200\n");
    fs::create_symlink("/sys/bus/pci/drivers/nvidia",
                       folder_ / ("sys/bus/pci/devices/" + address + "/driver"));
  };
  add("0000:00:00.0");
  scenario("devices 1");
  const std::unique_ptr<Backend> backend = open();
  EXPECT_EQ(backend->look({}, true).devices.size(), 1u);
  add("0000:01:00.0");
  scenario("devices 2");
  EXPECT_TRUE(comes_true(*backend, [](const Look& look) { return look.devices.size() == 2; }));
}

// Whatever question it is that meets the loss.
TEST_F(Nvml, AGpuThatIsLostInTheMiddleOfALookIsLost) {
  for (int questions = 0; questions < 40; ++questions) {
    SCOPED_TRACE(questions);
    scenario("devices 2");
    const std::unique_ptr<Backend> backend = open();
    backend->look({}, true);
    scenario("devices 2\nlost_after 1 " + std::to_string(questions));
    Look look = backend->look({}, false);
    ASSERT_EQ(look.devices.size(), 2u);
    EXPECT_EQ(look.devices[0].state, DeviceState::ok);
    for (int i = 0; i < 3; ++i) look = backend->look({}, false);
    EXPECT_EQ(look.devices[1].state, DeviceState::lost);
    EXPECT_EQ(look.devices[1].uuid, "GPU-fake-1");
    EXPECT_EQ(look.devices[0].state, DeviceState::ok);
  }
}

TEST_F(Nvml, ADriverThatIsReloadedIsFoundAgain) {
  scenario("devices 2");
  const std::unique_ptr<Backend> backend = open();
  backend->look({}, true);
  backend->look({}, false);
  scenario("init 9\nevery 9");
  EXPECT_THROW(backend->look({}, false), base::Error);
  EXPECT_THROW(backend->look({}, true), base::Error);
  scenario("devices 2");
  EXPECT_TRUE(comes_true(*backend, [](const Look& look) { return look.devices.size() == 2; }));
}

TEST_F(Nvml, TellsErrorsOfTheDriverOnce) {
  scenario("devices 2\nxid 79 1");
  const std::unique_ptr<Backend> backend = open();
  std::vector<DeviceError> errors;
  EXPECT_TRUE(comes_true(*backend, [&](const Look& look) {
    errors.insert(errors.end(), look.errors.begin(), look.errors.end());
    return !errors.empty();
  }));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].xid, 79u);
  EXPECT_EQ(errors[0].uuid, "GPU-fake-1");
  EXPECT_TRUE(backend->look({}, false).errors.empty());
}

// 999 is "unknown error", which may pass.
TEST_F(Nvml, ErrorsOfTheDriverAreWaitedForAgainAfterWaitingFailed) {
  for (const std::string when : {"devices 1\nevents 999", "devices 1"}) {
    scenario(when);
    const std::unique_ptr<Backend> backend = open();
    for (int i = 0; i < 3; ++i) backend->look({}, false);  // from the second on it is waited for
    scenario("devices 1\nevents 999");
    std::this_thread::sleep_for(milliseconds(50));
    scenario("devices 1\nxid 79 0");
    EXPECT_TRUE(comes_true(*backend, [](const Look& look) { return !look.errors.empty(); }))
        << when;
  }
}

TEST_F(Nvml, AGpuThatNeedsAResetSaysSo) {
  scenario("devices 2\nreset 1");
  const Look look = open()->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  EXPECT_FALSE(look.devices[0].needs_reset);
  EXPECT_TRUE(look.devices[1].needs_reset);
  EXPECT_EQ(look.devices[1].state, DeviceState::ok) << "it answers";
  EXPECT_FALSE(look.devices[1].now.utilization_percent);
  EXPECT_EQ(look.devices[1].now.temperature_celsius, 61);
}

TEST_F(Nvml, AGpuWithoutMemoryOfItsOwnHasThatOfTheMachine) {
  write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    400 kB\n");
  scenario("unified");
  const GpuDevice gpu = open()->look({}, true).devices.at(0);
  EXPECT_EQ(gpu.memory_total_bytes, 1000 * 1024);
  EXPECT_EQ(gpu.now.memory_used_bytes, 600 * 1024);
  EXPECT_EQ(gpu.now.memory_free_bytes, 400 * 1024);
  EXPECT_FALSE(gpu.now.memory_reserved_bytes);
}

TEST_F(Nvml, UtilizationOfProgramsIsThatOfTheirNewestSampleWithoutGarbage) {
  scenario(
      "process 1 64\nprocess 2 64\nprocess 3 64\nbusy 1 20 5\nbusy 1 55 7\nbusy 1 30 6\n"
      "busy 2 4000000000 7\nbusy 9 10 7");
  const std::unique_ptr<Backend> backend = open();
  const auto of = [&](int pid) {
    const Look look = backend->look({}, false);
    const auto& all = look.devices.at(0).processes;
    return std::ranges::find(all, pid, &GpuProcess::pid)->utilization_percent;
  };
  EXPECT_EQ(of(1), 55);
  // What was seen does not count twice: it has done nothing since.
  EXPECT_EQ(of(1), 0);
  scenario("process 1 64\nprocess 2 64\nbusy 1 20 5\nbusy 2 44 9");
  EXPECT_EQ(of(2), 44);
  EXPECT_EQ(of(1), 0) << "a sample of the past";
  scenario("process 1 64");
  EXPECT_EQ(of(1), 0) << "nothing ran";
  scenario("process 1 64\nunsupported samples");
  EXPECT_FALSE(of(1));
}

TEST_F(Nvml, PartsOfAGpuAreDevices) {
  scenario("parts 0 2\nunsupported utilization\nprocess 5 64");
  const Look look = open()->look({}, true);
  ASSERT_EQ(look.devices.size(), 3u);
  EXPECT_EQ(look.devices[0].type, "gpu");
  EXPECT_FALSE(look.devices[0].now.utilization_percent);
  EXPECT_EQ(look.devices[2].type, "mig");
  EXPECT_EQ(look.devices[2].uuid, "MIG-fake-200");
  EXPECT_EQ(look.devices[2].name, "Fake GPU MIG 1g.5gb");
  EXPECT_EQ(look.devices[2].now.memory_used_bytes, 300);
  EXPECT_EQ(look.devices[2].processes.size(), 1u);
}

TEST_F(Nvml, AGpuThatMayNotBeOpenedIsListedAsSuch) {
  scenario("devices 2\nforbidden 0");
  const Look look = open()->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  EXPECT_EQ(look.devices[0].state, DeviceState::no_permission);
  EXPECT_EQ(look.devices[1].state, DeviceState::ok);
}

TEST_F(Nvml, ASleepingGpuIsLeftAlone) {
  for (const std::string address : {"0000:00:00.0", "0000:01:00.0"}) {
    const std::string pci = "sys/bus/pci/devices/" + address;
    write(pci + "/vendor", "0x10de\n");
    write(pci + "/class", "0x030000\n");
    write(pci + "/power/runtime_status", address == "0000:00:00.0" ? "suspended\n" : "active\n");
  }
  scenario("devices 2\nforbidden 0\nforbidden 1");  // by index, which would wake it
  const std::unique_ptr<Backend> backend = open();
  Look look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  EXPECT_EQ(look.devices[0].state, DeviceState::suspended);
  EXPECT_EQ(look.devices[0].uuid, "pci-0000:00:00.0");
  EXPECT_FALSE(look.devices[0].now.power_watts);
  EXPECT_EQ(look.devices[1].state, DeviceState::ok);
  // One that falls asleep later is not asked any more.
  write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
  look = backend->look({}, false);
  EXPECT_EQ(look.devices[1].state, DeviceState::suspended);
  EXPECT_FALSE(look.devices[1].now.power_watts);
}

TEST_F(Nvml, AHungDriverStallsNobody) {
  scenario("devices 1\nhang");
  std::vector<std::unique_ptr<Backend>> both;
  both.push_back(open());
  both.push_back(demo_backend());
  WatcherOptions options;
  options.interval = milliseconds(5);
  options.hung_after = milliseconds(30);
  {
    Watcher watcher(std::move(both), options);
    Devices now = watcher.latest();
    while (!now.backends[0].is_hung || now.backends[1].looks < 5) {
      std::this_thread::sleep_for(milliseconds(5));
      now = watcher.latest();
    }
    EXPECT_EQ(now.devices.size(), 2u);
  }
  scenario("devices 1");  // lets the thread go
}

}  // namespace fathom::devices::nvml_test
