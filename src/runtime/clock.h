#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace fathom::runtime {

// What time it is, and a way to let it pass: modelled time is waited for in real use, and only
// counted in tests.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() const = 0;
  virtual void wait_until(std::int64_t ns) = 0;  // returns at once where that is past
  virtual bool is_real() const = 0;              // it goes as the profiler's does
};

class RealClock : public Clock {
 public:
  bool is_real() const override { return true; }
  std::int64_t now_ns() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void wait_until(std::int64_t ns) override {
    // Sleeping is tens of microseconds inexact; the last of it is waited for awake.
    constexpr std::int64_t kInexactNs = 200'000;
    const std::int64_t left = ns - now_ns();
    if (left > kInexactNs) std::this_thread::sleep_for(std::chrono::nanoseconds(left - kInexactNs));
    while (now_ns() < ns) {
    }
  }
};

// Stands still but for what is waited for: the same on every machine.
class VirtualClock : public Clock {
 public:
  bool is_real() const override { return false; }
  std::int64_t now_ns() const override { return now_ns_; }
  void wait_until(std::int64_t ns) override {
    std::int64_t now = now_ns_;
    while (now < ns && !now_ns_.compare_exchange_weak(now, ns)) {
    }
  }

 private:
  std::atomic<std::int64_t> now_ns_ = 0;
};

}  // namespace fathom::runtime
