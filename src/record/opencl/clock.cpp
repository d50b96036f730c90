#include "record/opencl/clock.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "record/opencl/driver.h"

namespace fathom::record::opencl {
namespace {

constexpr std::int64_t kPairEveryNs = 1'000'000'000;
constexpr int kPairTries = 5;

// Clocks that NTP slews run up to 500 ppm apart from the raw one.
constexpr std::int64_t drift_ns(std::int64_t elapsed_ns) {
  return elapsed_ns / 2000;
}

// The loader has an entry for it always, and would call through a null one of an older driver.
bool has_timer(cl_device_id device) {
  std::array<char, 128> version = {};
  if (driver.clGetDeviceAndHostTimer == nullptr ||
      driver.clGetDeviceInfo(device, CL_DEVICE_VERSION, version.size() - 1, version.data(),
                             nullptr) != CL_SUCCESS) {
    return false;
  }
  return std::strncmp(version.data(), "OpenCL 2.1", 10) >= 0;
}

bool encloses_zero(const ClockSample& sample) {
  return sample.queued >= sample.call_begin_ns && sample.queued <= sample.call_end_ns &&
         sample.end <= sample.seen_ns;
}

}  // namespace

std::int64_t now_ns() noexcept {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

std::int64_t DeviceClock::offset_ns(cl_device_id device, const ClockSample& sample) noexcept {
  if (source_ == Source::same_clock) return 0;
  if (source_ == Source::unknown) {
    if (encloses_zero(sample)) {
      source_ = Source::same_clock;
      return 0;
    }
    source_ = has_timer(device) && read_pair(device) ? Source::timer_pairs : Source::bounds;
  }
  if (source_ == Source::timer_pairs) {
    if (sample.seen_ns - updated_ns_ > kPairEveryNs) read_pair(device);
  } else {
    narrow(sample);
  }
  return offset_;
}

bool DeviceClock::read_pair(cl_device_id device) noexcept {
  std::int64_t best_width = INT64_MAX;
  for (int i = 0; i < kPairTries; ++i) {
    cl_ulong device_time = 0;
    cl_ulong host_time = 0;
    const std::int64_t before = now_ns();
    if (driver.clGetDeviceAndHostTimer(device, &device_time, &host_time) != CL_SUCCESS) {
      return false;
    }
    const std::int64_t after = now_ns();
    if (after - before < best_width) {
      best_width = after - before;
      offset_ = before + (after - before) / 2 - static_cast<std::int64_t>(device_time);
      updated_ns_ = after;
    }
  }
  return true;
}

void DeviceClock::narrow(const ClockSample& sample) noexcept {
  const std::int64_t lower = sample.call_begin_ns - sample.queued;
  const std::int64_t upper =
      std::min(sample.call_end_ns - sample.queued, sample.seen_ns - sample.end);
  if (lower_ != INT64_MIN) {
    const std::int64_t slack = drift_ns(std::max<std::int64_t>(sample.seen_ns - updated_ns_, 0));
    lower_ = std::max(lower_ - slack, lower);
    upper_ = std::min(upper_ + slack, upper);
  }
  if (lower_ == INT64_MIN || lower_ > upper_) {  // the first, or the clock has jumped
    lower_ = lower;
    upper_ = std::max(lower, upper);
  }
  updated_ns_ = sample.seen_ns;
  offset_ = lower_ + (upper_ - lower_) / 2;
}

}  // namespace fathom::record::opencl
