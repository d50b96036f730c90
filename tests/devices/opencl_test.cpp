// The backend for devices of OpenCL, on a library of our own (fake_opencl.cpp).
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "devices/cards.h"

namespace fathom::devices::opencl_test {

class Opencl : public testing::Test {
 protected:
  ~Opencl() override {
    ::unsetenv("FATHOM_OPENCL");
    ::unsetenv("FATHOM_FAKE_OPENCL");
  }
  std::unique_ptr<Backend> open(const char* mode = "") {
    ::setenv("FATHOM_OPENCL", FATHOM_BINARY_DIR "/lib/libfake_opencl.so", 1);
    ::setenv("FATHOM_FAKE_OPENCL", mode, 1);
    return opencl_backend(tree_.roots());
  }
  KernelTree tree_;
};

TEST_F(Opencl, IsNotThereWithoutItsLibrary) {
  ::setenv("FATHOM_OPENCL", "/nonexistent/libOpenCL.so.1", 1);
  EXPECT_EQ(opencl_backend(tree_.roots()), nullptr);
}

TEST_F(Opencl, ListsEachDeviceOnceWithWhatItIs) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  const Look look = backend->look({}, true);
  ASSERT_EQ(look.devices.size(), 3u);
  EXPECT_EQ(look.devices[0].name, "A card");
  EXPECT_EQ(look.devices[0].vendor, "Maker");
  EXPECT_EQ(look.devices[0].type, "gpu");
  EXPECT_EQ(look.devices[0].driver, "1.2");
  EXPECT_EQ(look.devices[0].backend, "opencl");
  EXPECT_EQ(look.devices[0].uuid, "pci-0000:03:00.0");
  EXPECT_EQ(look.devices[0].memory_total_bytes, 1 << 30);
  EXPECT_EQ(look.devices[0].max_core_clock_hz, 1.5e9);
  EXPECT_FALSE(look.devices[0].now.utilization_percent);
  EXPECT_EQ(look.devices[1].name, "A processor");
  EXPECT_EQ(look.devices[1].type, "cpu");
  EXPECT_EQ(look.devices[1].uuid, "opencl-A processor-0");
  EXPECT_FALSE(look.devices[1].memory_total_bytes);
  EXPECT_EQ(look.devices[2].name, "Big Card");  // not the name of its chip
  EXPECT_EQ(look.devices[2].index, 2u);
}

TEST_F(Opencl, WithoutDriversHasNoDevices) {
  EXPECT_TRUE(open("none")->look({}, true).devices.empty());
}

TEST_F(Opencl, ADriverThatCrashesTakesNobodyWithIt) {
  const auto backend = open("crash");
  EXPECT_THROW(backend->look({}, true), base::Error);
}

TEST_F(Opencl, IsAskedOnceAndAgainWhenACardComes) {
  const auto backend = open();
  EXPECT_EQ(backend->look({}, true).devices.size(), 3u);
  ::setenv("FATHOM_FAKE_OPENCL", "none", 1);
  EXPECT_EQ(backend->look({}, true).devices.size(), 3u);
  tree_.write("sys/class/drm/card7/dev", "226:7");
  EXPECT_EQ(backend->look({}, false).devices.size(), 3u);
  EXPECT_EQ(backend->look({}, true).devices.size(), 0u);
}

TEST_F(Opencl, IsNotAskedWhileAGpuSleeps) {
  add_radeon(tree_);
  tree_.set("0000:03:00.0", "power/runtime_status", "suspended");
  const auto backend = open();
  EXPECT_TRUE(backend->look({}, true).devices.empty());
  tree_.set("0000:03:00.0", "power/runtime_status", "active");
  EXPECT_EQ(backend->look({}, true).devices.size(), 3u);
}

// Names of those that find something.
std::vector<std::string> found_by(std::vector<std::unique_ptr<Backend>>& backends) {
  std::vector<std::string> names;
  for (const auto& backend : backends) {
    bool is_here = true;
    try {
      is_here = backend->look({.processes = false}, true).is_here;
    } catch (const base::Error&) {  // it is there, and does not work
    }
    if (is_here) names.emplace_back(backend->name());
  }
  return names;
}

TEST_F(Opencl, BackendsFindWhatComesLater) {
  using Names = std::vector<std::string>;
  ::setenv("FATHOM_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
  ::setenv("FATHOM_NVIDIA_SMI", "/nonexistent/nvidia-smi", 1);
  ::setenv("FATHOM_OPENCL", "/nonexistent/libOpenCL.so.1", 1);
  auto all = backends({}, tree_.roots());
  auto without = backends({.nvidia = false, .opencl = false}, tree_.roots());
  EXPECT_EQ(found_by(all), Names{});
  add_radeon(tree_);
  EXPECT_EQ(found_by(all), Names{"amdgpu"});
  add_xe(tree_);
  ::setenv("FATHOM_NVIDIA_SMI", "/bin/true", 1);
  open();
  EXPECT_EQ(found_by(all), (Names{"nvidia-smi", "amdgpu", "intel", "opencl"}));
  EXPECT_EQ(found_by(without), (Names{"amdgpu", "intel"}));
  tree_.write("scenario", "devices 1");
  ::setenv("FATHOM_FAKE_NVML", tree_.path("scenario").c_str(), 1);
  ::setenv("FATHOM_NVML", FATHOM_BINARY_DIR "/lib/libfake_nvml.so", 1);
  EXPECT_EQ(found_by(all), (Names{"nvml", "amdgpu", "intel", "opencl"}))
      << "the library, as soon as it loads";
  auto demo = backends({.is_demo = true}, tree_.roots());
  EXPECT_EQ(found_by(demo), Names{"demo"});
  ::unsetenv("FATHOM_NVIDIA_SMI");
}

}  // namespace fathom::devices::opencl_test
