// The backend that asks nvidia-smi, on scripts in its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "devices/child.h"
#include "devices/kernel_tree.h"
#include "devices/nvidia_smi_text.h"

namespace fathom::devices::nvidia_smi_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kHelp = R"(List of valid properties to query for the switch "--query-gpu":

"driver_version"
The version of the installed NVIDIA display driver.

"uuid" or "gpu_uuid"
"pci.bus_id" or "gpu_bus_id"
"name" or "gpu_name"
"memory.total"
"memory.used"
"utilization.gpu"
"temperature.gpu"
"power.draw"
"clocks_throttle_reasons.active"
)";

class NvidiaSmi : public testing::Test {
 protected:
  ~NvidiaSmi() override { ::unsetenv("FATHOM_NVIDIA_SMI"); }

  // A script that answers what it can be asked, and then as `body` says.
  std::unique_ptr<Backend> with_script(const std::string& body,
                                       milliseconds at_most = seconds(60)) {
    tree_.write("help", kHelp);
    tree_.write("nvidia-smi", "#!/bin/sh\necho \"$*\" >> " + tree_.path("asked") + "\n" +
                                  "case \"$*\" in --help*) exec cat " + tree_.path("help") +
                                  ";; esac\n" + body + "\n");
    std::filesystem::permissions(tree_.path("nvidia-smi"), std::filesystem::perms::owner_all);
    ::setenv("FATHOM_NVIDIA_SMI", tree_.path("nvidia-smi").c_str(), 1);
    return nvidia_smi_backend(tree_.roots(), at_most);
  }
  std::string asked() const {
    std::ifstream file(tree_.path("asked"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  KernelTree tree_;
};

TEST_F(NvidiaSmi, IsNotThereWithoutTheProgram) {
  ::setenv("FATHOM_NVIDIA_SMI", tree_.path("none").c_str(), 1);
  EXPECT_EQ(nvidia_smi_backend(tree_.roots()), nullptr);
  tree_.write("nvidia-smi", "not a program");
  ::setenv("FATHOM_NVIDIA_SMI", tree_.path("nvidia-smi").c_str(), 1);
  EXPECT_EQ(nvidia_smi_backend(tree_.roots()), nullptr);
}

TEST_F(NvidiaSmi, TellsEachMetricInItsUnit) {
  const auto backend = with_script(
      "case \"$*\" in *compute-apps*) echo 'GPU-1, 4711, 2048'; echo 'GPU-1, 12, [N/A]';\n"
      "echo 'GPU-2, 13, 5';; *)\n"
      "echo 'GPU-1, 00000000:3B:00.0, NVIDIA A10, 535.1, 24576, 1024, 93, 61, 149.50, "
      "0x0000000000000004';; esac");
  tree_.program(4711, "train", {});
  const Look look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 1u);
  const GpuDevice& gpu = look.devices[0];
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(gpu.pci_address, "0000:3b:00.0");
  EXPECT_EQ(gpu.name, "NVIDIA A10");
  EXPECT_EQ(gpu.vendor, "NVIDIA");
  EXPECT_EQ(gpu.backend, "nvidia-smi");
  EXPECT_EQ(gpu.driver, "535.1");
  EXPECT_EQ(gpu.memory_total_bytes, 24576LL << 20);
  EXPECT_EQ(gpu.now.memory_used_bytes, 1024LL << 20);
  EXPECT_EQ(gpu.now.utilization_percent, 93);
  EXPECT_EQ(gpu.now.temperature_celsius, 61);
  EXPECT_EQ(gpu.now.power_watts, 149.5);
  EXPECT_EQ(gpu.now.throttle, static_cast<std::uint32_t>(ThrottleReason::power_cap));
  EXPECT_FALSE(gpu.now.fan_percent);  // this version cannot be asked for it
  ASSERT_EQ(gpu.processes.size(), 2u);
  EXPECT_EQ(gpu.processes[0].name, "train");
  EXPECT_EQ(gpu.processes[0].memory_bytes, 2048LL << 20);
  EXPECT_FALSE(gpu.processes[1].memory_bytes);
  EXPECT_EQ(asked(),
            "--help-query-gpu\n"
            "--query-gpu=uuid,pci.bus_id,name,driver_version,memory.total,memory.used,"
            "utilization.gpu,temperature.gpu,power.draw,clocks_throttle_reasons.active "
            "--format=csv,noheader,nounits\n"
            "--query-compute-apps=gpu_uuid,pid,used_gpu_memory --format=csv,noheader,nounits\n");
}

TEST_F(NvidiaSmi, OneThatIsSlowIsEnded) {
  const auto backend = with_script("sleep 1000 & sleep 1000", milliseconds(300));
  EXPECT_THROW(backend->look({}, true), base::Error);
}

TEST_F(NvidiaSmi, FailureSaysWhyAndIsNotRepeatedAtOnce) {
  const auto backend = with_script("echo 'NVIDIA-SMI has failed because it could not.'; exit 9");
  for (int i = 0; i < 3; ++i) {
    try {
      backend->look({}, true);
      FAIL();
    } catch (const base::Error& error) {
      EXPECT_STREQ(error.what(), "nvidia-smi: NVIDIA-SMI has failed because it could not.");
    }
  }
  EXPECT_EQ(std::ranges::count(asked(), '\n'), 2);  // once for help
}

TEST_F(NvidiaSmi, OneGpuThatIsLostHidesNoOther) {
  const auto backend = with_script(
      "case \"$*\" in *compute-apps*) ;; *) echo 'Unable to determine the device handle for GPU';\n"
      "echo 'GPU-2, 00000000:3C:00.0, NVIDIA A10'; exit 15;; esac");
  const Look look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 1u);
  EXPECT_EQ(look.devices[0].uuid, "GPU-2");
}

TEST_F(NvidiaSmi, SleepingGpusAreNotAskedFor) {
  const auto backend = with_script("echo 'GPU-2, 00000000:3C:00.0, NVIDIA A10'");
  for (const std::string address : {"0000:3b:00.0", "0000:3c:00.0"}) {
    tree_.gpu(address, "nvidia", {{"vendor", "0x10de"}, {"device", "0x2236"}});
  }
  tree_.set("0000:3b:00.0", "power/runtime_status", "suspended");
  const Look look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 2u);
  EXPECT_EQ(look.devices[0].state, DeviceState::suspended);
  EXPECT_EQ(look.devices[0].name, "NVIDIA GPU 2236");
  EXPECT_EQ(look.devices[1].uuid, "GPU-2");
  EXPECT_EQ(look.devices[1].index, 1u);
  EXPECT_NE(asked().find("--id=0000:3c:00.0 --query-gpu="), std::string::npos) << asked();
  // With all of them asleep nothing is started at all.
  tree_.set("0000:3c:00.0", "power/runtime_status", "suspended");
  tree_.remove("asked");
  EXPECT_EQ(backend->look({}, true).devices.size(), 2u);
  EXPECT_EQ(asked(), "");
}

TEST(NvidiaSmiText, BadTokensAreAbsent) {
  const std::vector<std::string> fields = {"uuid", "name", "memory.used", "temperature.gpu"};
  for (const std::string token : {"[N/A]", "N/A", "[Not Supported]", "[Insufficient Permissions]",
                                  "[Unknown Error]", "", "12 MiB", "-3", "nan", "inf", "1e300"}) {
    SCOPED_TRACE(token);
    const auto gpus =
        smi::parse_gpus("GPU-1, " + token + ", " + token + ", " + token + "\n", fields);
    ASSERT_EQ(gpus.size(), 1u);
    EXPECT_FALSE(gpus[0].now.memory_used_bytes);
    EXPECT_FALSE(gpus[0].now.temperature_celsius);
    EXPECT_FALSE(gpus[0].name.empty());
  }
}

TEST(NvidiaSmiText, WhatWasCutOffIsAbsent) {
  const std::vector<std::string> fields = {"uuid", "memory.used", "temperature.gpu"};
  const std::string whole = "GPU-1, 8192, 61\nGPU-2, 4096, 55\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    SCOPED_TRACE(length);
    for (const GpuDevice& gpu : smi::parse_gpus(whole.substr(0, length), fields)) {
      const bool is_first = gpu.uuid == "GPU-1";
      const std::int64_t used = (is_first ? 8192LL : 4096LL) << 20;
      EXPECT_TRUE(is_first || gpu.uuid == "GPU-2") << gpu.uuid;
      EXPECT_EQ(gpu.now.memory_used_bytes.value_or(used), used);
      EXPECT_EQ(gpu.now.temperature_celsius.value_or(is_first ? 61 : 55), is_first ? 61 : 55);
    }
  }
  EXPECT_EQ(smi::parse_gpus("GPU-1, 8192, 6", fields).at(0).now.memory_used_bytes, 8192LL << 20);
  EXPECT_FALSE(smi::parse_gpus("GPU-1, 8192, 6", fields).at(0).now.temperature_celsius);
}

TEST(NvidiaSmiText, RowsThatCannotBeTrustedAreLeftOut) {
  const std::vector<std::string> fields = {"uuid", "pci.bus_id"};
  EXPECT_TRUE(smi::parse_gpus("GPU-1, 00000000:3B:00.0, 5\n", fields).empty());
  EXPECT_TRUE(smi::parse_gpus("[N/A], nonsense\n", fields).empty());
  EXPECT_EQ(smi::parse_gpus("[N/A], 00000001:3B:00.0\n", fields).at(0).uuid, "pci-0001:3b:00.0");
  EXPECT_TRUE(
      smi::parse_programs("GPU-1, x, 5\n, 5, 5\nGPU-1, -1, 5\nGPU-1, 1.5, 5\nGPU-1\n").empty());
}

TEST(NvidiaSmiText, AsksWhatEveryVersionKnowsWhereTheHelpFails) {
  const std::vector<std::string> fields = smi::fields_to_ask("");
  EXPECT_EQ(fields.front(), "uuid");
  EXPECT_EQ(std::ranges::find(fields, "memory.reserved"), fields.end());
}

TEST(Child, IsEndedWithAllItStartedWhenTheTimeIsOver) {
  const KernelTree tree;
  const std::string script =
      "sleep 1000 & echo $! > " + tree.path("pid") + "; echo here; sleep 1000";
  const ChildOutput output = run_program({"/bin/sh", "-c", script}, seconds(2));
  EXPECT_TRUE(output.has_started);
  EXPECT_FALSE(output.was_in_time);
  EXPECT_EQ(output.text, "here\n");
  pid_t grandchild = 0;
  std::ifstream(tree.path("pid")) >> grandchild;
  ASSERT_GT(grandchild, 0);
  // It dies, whether or not somebody takes notice of that.
  const auto is_alive = [&] {
    std::ifstream file("/proc/" + std::to_string(grandchild) + "/stat");
    std::string stat;
    std::getline(file, stat);
    return !stat.empty() && stat.find(") Z") == std::string::npos;
  };
  for (int i = 0; i < 6000 && is_alive(); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_FALSE(is_alive());
}

TEST(Child, ThatDoesNotEndAfterItsOutputIsNotWaitedFor) {
  const ChildOutput output =
      run_program({"/bin/sh", "-c", "echo all; exec >&-; sleep 1000"}, seconds(2));
  EXPECT_TRUE(output.was_in_time);
  EXPECT_FALSE(output.has_succeeded);
  EXPECT_EQ(output.text, "all\n");
}

TEST(Child, ThatTalksWithoutEndIsEnded) {
  const ChildOutput output = run_program({"/bin/sh", "-c", "exec yes"}, seconds(60));
  EXPECT_FALSE(output.was_in_time);
  EXPECT_LT(output.text.size(), std::size_t{2} << 20);
}

TEST(Child, ThatIsNoProgramHasNotStarted) {
  EXPECT_FALSE(run_program({"/nonexistent/program"}, seconds(60)).has_started);
}

TEST(Child, CopyGivesItsTextOrDiesAlone) {
  EXPECT_EQ(run_copy([] { return std::string("hello"); }, seconds(60)).text, "hello");
  const ChildOutput crashed = run_copy(
      []() -> std::string {
        std::signal(SIGSEGV, SIG_DFL);
        std::raise(SIGSEGV);
        return "no";
      },
      seconds(60));
  EXPECT_TRUE(crashed.was_in_time);
  EXPECT_FALSE(crashed.has_succeeded);
  const ChildOutput hung = run_copy(
      []() -> std::string {
        ::pause();
        return "no";
      },
      milliseconds(200));
  EXPECT_FALSE(hung.was_in_time);
}

}  // namespace fathom::devices::nvidia_smi_test
