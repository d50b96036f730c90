#pragma once

#include <algorithm>
#include <chrono>

namespace fathom::devices {

// When to try again what failed: soon at first, then less and less often, at least every 30
// seconds.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  Clock::time_point due() const { return due_; }
  bool is_due() const { return Clock::now() >= due_; }
  void failed() {
    due_ = Clock::now() + pause_;
    pause_ = std::min(2 * pause_, kLongest);
  }
  void succeeded() { pause_ = kFirst; }

 private:
  static constexpr std::chrono::milliseconds kFirst{500};
  static constexpr std::chrono::milliseconds kLongest{30'000};
  std::chrono::milliseconds pause_ = kFirst;
  Clock::time_point due_{};
};

}  // namespace fathom::devices
