#include "runtime/opencl/clblast.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "runtime/opencl/opencl.h"

namespace fathom::runtime {
namespace {

int stand_in_calls() {
  void* const library = dlopen(STAND_IN_CLBLAST, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<int (*)()>(dlsym(library, "stand_in_clblast_calls"))();
}

// 2 x 2 twos, multiplied twice.
std::vector<float> product_of(const OpenclOptions& options) {
  auto devices = opencl_devices(options);
  Device& device = *devices.at(0);
  const std::vector<float> twos(4, 2.0f);
  std::vector<float> result(4);
  void* const segment = device.allocate(64);
  device.write({segment, 0}, twos.data(), 16);
  for (int call = 0; call < 2; ++call) {
    device.matmul({.rows = 2, .inner = 2, .columns = 2}, {segment, 32}, {segment, 0}, {segment, 0});
  }
  device.read(result.data(), {segment, 32}, 16);
  device.release(segment);
  return result;
}

class ClblastTest : public testing::Test {
 protected:
  void SetUp() override {
    if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device here";
  }
  const std::vector<float> right_ = std::vector<float>(4, 8.0f);
};

TEST_F(ClblastTest, MultipliesWhereItIs) {
  const int before = stand_in_calls();
  EXPECT_EQ(product_of({STAND_IN_CLBLAST, true}), right_);
  EXPECT_EQ(stand_in_calls() - before, 2);
}

TEST_F(ClblastTest, IsLeftOutOnDevicesThatAreCpus) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  clGetPlatformIDs(1, &platform, nullptr);
  const auto is_cpu = clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr);
  if (is_cpu != CL_SUCCESS) GTEST_SKIP() << "the first OpenCL device here is none";
  const int before = stand_in_calls();
  EXPECT_EQ(product_of({STAND_IN_CLBLAST, false}), right_);
  EXPECT_EQ(stand_in_calls() - before, 0);
}

TEST_F(ClblastTest, OurOwnKernelMultipliesWhereItIsNotOrFails) {
  EXPECT_EQ(product_of({"libno_clblast.so", true}), right_);
  setenv("STAND_IN_CLBLAST_FAILS", "1", 1);
  const int before = stand_in_calls();
  EXPECT_EQ(product_of({STAND_IN_CLBLAST, true}), right_);
  unsetenv("STAND_IN_CLBLAST_FAILS");
  EXPECT_EQ(stand_in_calls() - before, 1) << "it is not asked again";
}

}  // namespace
}  // namespace fathom::runtime
