#pragma once

#include <chrono>
#include <optional>

namespace fathom::devices {

// How fast a counter of a driver grows, from look to look.
class Rate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Per second since the last look. Nothing at the first, and when the counter fell: it began anew.
  std::optional<double> of(std::optional<double> counter, Time now) {
    std::optional<double> per_second;
    if (counter && last_ && *counter >= *last_ && now > looked_) {
      per_second = (*counter - *last_) / std::chrono::duration<double>(now - looked_).count();
    }
    last_ = counter;
    looked_ = now;
    return per_second;
  }

 private:
  std::optional<double> last_;
  Time looked_{};
};

}  // namespace fathom::devices
