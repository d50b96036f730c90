#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace fathom::compare {

// How one operation of a simulated program behaves: the troubles of real measurements, as they were
// seen on real machines, and not the clean noise on which every rule looks perfect.
struct NoisyOperation {
  double log_base = 0;         // log nanoseconds
  double noise = 0;            // sd of log time from call to call: 0.5 to 6 %
  double autocorrelation = 0;  // of neighbouring calls: 0 to 0.6
  double spike_share = 0;      // calls that take 1.5 to 4 times as long: 0 to 5 %
  double drift = 0;            // sd of the run's slope, end to end: 0 to 1.5 %
  double run_sd = 0;           // from run to run: 0.3 to 2 %
  double second_mode = 0;      // log distance of a sticky second mode; 0 for the 70 % without
  double mode_flip = 0;        // probability to change the mode at a call
};

NoisyOperation random_operation(std::mt19937_64& random);

// The times of one run, in order, each longer by `factor`.
std::vector<std::int64_t> run_of(const NoisyOperation& operation, std::size_t calls, double factor,
                                 std::mt19937_64& random);

}  // namespace fathom::compare
