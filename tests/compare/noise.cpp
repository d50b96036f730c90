#include "compare/noise.h"

#include <cmath>

namespace fathom::compare {
namespace {

double between(double low, double high, std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

bool happens(double probability, std::mt19937_64& random) {
  return between(0, 1, random) < probability;
}

}  // namespace

NoisyOperation random_operation(std::mt19937_64& random) {
  NoisyOperation operation;
  operation.log_base = between(std::log(5e3), std::log(5e6), random);
  operation.noise = std::exp(between(std::log(0.005), std::log(0.06), random));
  operation.autocorrelation = between(0, 0.6, random);
  operation.spike_share = between(0, 0.05, random);
  operation.drift = between(0, 0.015, random);
  operation.run_sd = std::exp(between(std::log(0.003), std::log(0.02), random));
  if (happens(0.3, random)) {
    operation.second_mode = between(0.08, 0.4, random);
    operation.mode_flip = between(0.02, 0.2, random);
  }
  return operation;
}

std::vector<std::int64_t> run_of(const NoisyOperation& operation, std::size_t calls, double factor,
                                 std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double level = operation.log_base + std::log(factor) + operation.run_sd * normal(random);
  const double slope = operation.drift * normal(random);
  const double fresh = std::sqrt(1 - operation.autocorrelation * operation.autocorrelation);
  double noise = normal(random);
  bool is_second = happens(0.5, random);
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < calls; ++i) {
    noise = operation.autocorrelation * noise + fresh * normal(random);
    if (happens(operation.mode_flip, random)) is_second = !is_second;
    const double along = static_cast<double>(i) / static_cast<double>(calls) - 0.5;
    double time = level + slope * along + operation.noise * noise;
    if (is_second) time += operation.second_mode;
    if (happens(operation.spike_share, random)) time += std::log(between(1.5, 4, random));
    times.push_back(std::llround(std::exp(time)));
  }
  return times;
}

}  // namespace fathom::compare
