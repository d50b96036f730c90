#include "record/opencl/clock.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "record/opencl/driver.h"

namespace fathom::record::opencl {

constinit cl_icd_dispatch driver = {};

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

cl_int CL_API_CALL no_device_info(cl_device_id /*of*/, cl_device_info /*what*/, size_t /*room*/,
                                  void* /*to*/, size_t* /*needed*/) {
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL version_3(cl_device_id /*of*/, cl_device_info /*what*/, size_t room, void* to,
                             size_t* /*needed*/) {
  std::strncpy(static_cast<char*>(to), "OpenCL 3.0 test", room);
  return CL_SUCCESS;
}

// A device whose clock began 5 s after ours.
cl_int CL_API_CALL timer_5_seconds_behind(cl_device_id /*of*/, cl_ulong* device, cl_ulong* host) {
  *host = static_cast<cl_ulong>(now_ns());
  *device = *host - 5 * kSecond;
  return CL_SUCCESS;
}

// A command that took `call_ns` to enqueue and was seen complete 1 ms later, as a device would
// stamp it whose clock shows `ahead_ns` more than ours.
ClockSample sample_at(std::int64_t time_ns, std::int64_t call_ns, std::int64_t ahead_ns) {
  return {.call_begin_ns = time_ns,
          .call_end_ns = time_ns + call_ns,
          .seen_ns = time_ns + 1'000'000,
          .queued = time_ns + call_ns / 3 + ahead_ns,
          .end = time_ns + 500'000 + ahead_ns};
}

TEST(DeviceClock, StampsOfOurOwnClockAreKeptToTheNanosecond) {
  driver = {};
  DeviceClock clock;
  EXPECT_EQ(clock.offset_ns(nullptr, sample_at(kSecond, 2000, 0)), 0);
  EXPECT_EQ(clock.offset_ns(nullptr, sample_at(2 * kSecond, 2000, 0)), 0);
}

TEST(DeviceClock, TimersAreReadTogetherWhereTheDriverCan) {
  driver = {};
  driver.clGetDeviceInfo = version_3;
  driver.clGetDeviceAndHostTimer = timer_5_seconds_behind;
  DeviceClock clock;
  const std::int64_t offset = clock.offset_ns(nullptr, sample_at(now_ns(), 2000, -5 * kSecond));
  EXPECT_NEAR(static_cast<double>(offset), 5e9, 1e6);
}

TEST(DeviceClock, WithoutATimerTheOffsetIsEnclosedByWhatCommandsShow) {
  driver = {};
  driver.clGetDeviceInfo = no_device_info;
  driver.clGetDeviceAndHostTimer = timer_5_seconds_behind;  // of a newer version: not to be called
  DeviceClock clock;
  std::mt19937 random(3);
  std::int64_t offset = 0;
  for (int i = 1; i < 1000; ++i) {
    const auto call_ns = static_cast<std::int64_t>(3000 + random() % 50'000);
    offset = clock.offset_ns(nullptr, sample_at(i * 1'000'000LL, call_ns, 7 * kSecond));
    EXPECT_NEAR(static_cast<double>(offset), -7e9, 60'000);
  }
  EXPECT_NEAR(static_cast<double>(offset), -7e9, 5000);
}

TEST(DeviceClock, ADriftingClockIsFollowed) {
  driver = {};
  driver.clGetDeviceInfo = no_device_info;
  DeviceClock clock;
  for (std::int64_t i = 1; i < 10'000; ++i) {
    const std::int64_t time_ns = i * 10'000'000;
    const std::int64_t ahead_ns = kSecond + time_ns / 10'000;  // 100 ppm fast
    const std::int64_t offset = clock.offset_ns(nullptr, sample_at(time_ns, 4000, ahead_ns));
    ASSERT_NEAR(static_cast<double>(offset), static_cast<double>(-ahead_ns), 10'000);
  }
}

}  // namespace
}  // namespace fathom::record::opencl
