#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "fathom/router.h"

namespace fathom::runtime {

// What an operation takes on a device at every size: log2 of nanoseconds at nodes that are half an
// octave of sizes apart, straight between them, which a·n^b is. Reading takes no lock and may
// happen at any time; writers take turns (the caller's lock).
class CostCurve {
 public:
  explicit CostCurve(const std::function<double(double size)>& ns);

  double ns(float log2_size) const noexcept;

  // A call: nodes beside its size follow it, more slowly the more they know; nodes that know
  // nothing follow it all. After three calls in a row that are off by much and in the same
  // direction the device is another one: all nodes move. One outlier moves little.
  struct Learned {
    double error = 0;  // |predicted - measured| / measured
    bool level_shifted = false;
  };
  Learned learn(float log2_size, double ns);

  // Calls measured at leisure. Beyond the largest of them times grow as size to the power of
  // `growth`: a fitted exponent that is a little off would be far off there.
  void calibrate(const std::vector<CallTime>& calls, double growth);

 private:
  static constexpr int kPerOctave = 2;
  static constexpr int kNodes = 40 * kPerOctave + 1;
  // From here on a node is the mean of its last calls, each weighing 0.9 of the next.
  static constexpr float kMostKnown = 9;

  struct Spot {
    int node;
    float share;  // of the node after it
  };
  static Spot spot(float log2_size) noexcept;
  void move(int node, float by) noexcept;
  void shift_level(float by) noexcept;

  std::array<std::atomic<float>, kNodes> log2_ns_;
  std::array<float, kNodes> known_ = {};  // calls, as far as they are remembered
  std::array<float, 3> off_ = {};         // of the last calls, log2 of measured / predicted
  int off_count_ = 0;
};

}  // namespace fathom::runtime
