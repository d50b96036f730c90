#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace fathom::runtime {

// Whether memory grows and grows: the lowest level of each fifth of the window is higher than that
// of the fifth before. What is used and given back in turns does not raise the lowest level.
class LeakWindow {
 public:
  explicit LeakWindow(double seconds) : part_seconds_(seconds / kParts) {}

  void add(double seconds, std::int64_t used);
  std::optional<std::int64_t> grown() const;  // bytes; nothing while there is no suspicion

 private:
  static constexpr int kParts = 5;
  static constexpr std::int64_t kLeastGrowth = 1 << 20;

  double part_seconds_;
  std::optional<double> begin_;                  // of the part that is filled now
  std::int64_t lowest_ = 0;                      // in it
  std::array<std::int64_t, kParts> parts_ = {};  // complete ones, oldest first
  int complete_ = 0;
};

}  // namespace fathom::runtime
