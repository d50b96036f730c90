#include "compare/moderated_t.h"

// Else Boost works tables of long double out when the program starts, and throws where those are no
// wider than double: under Valgrind, which the tests of hostile files count instructions with.
#define BOOST_MATH_NO_LONG_DOUBLE_MATH_FUNCTIONS

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace fathom::compare {
namespace {

using boost::math::digamma;
using boost::math::trigamma;

// A run's clock has a grain, so no operation repeats better than to a thousandth of a percent.
constexpr double kLeastVariance = 1e-10;
constexpr double kAsGoodAsInfinite = 1e6;

// x with trigamma(x) = y, by Newton's method on 1/trigamma, which is nearly straight.
double inverse_trigamma(double y) {
  if (y > 1e7) return 1 / std::sqrt(y);
  if (y < 1e-6) return 1 / y;
  double x = 0.5 + 1 / y;
  for (int i = 0; i < 50; ++i) {
    const double here = trigamma(x);
    const double step = here * (1 - here / y) / boost::math::polygamma(2, x);
    x += step;
    if (-step / x < 1e-8) break;
  }
  return x;
}

}  // namespace

VariancePrior fit_prior(std::span<const double> variances, double degrees) {
  if (variances.size() < 3 || degrees <= 0) return {};
  // log s² of normal noise has a known mean and variance; what it varies more, the truth does.
  std::vector<double> logs;
  for (const double variance : variances) {
    logs.push_back(std::log(std::max(variance, kLeastVariance)) - digamma(degrees / 2) +
                   std::log(degrees / 2));
  }
  const auto n = static_cast<double>(logs.size());
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  double spread = 0;
  for (const double value : logs) spread += (value - mean) * (value - mean);
  spread = spread / (n - 1) - trigamma(degrees / 2);
  if (spread <= 0) return {std::exp(mean), std::numeric_limits<double>::infinity()};
  const double known = 2 * inverse_trigamma(spread);
  return {std::exp(mean + digamma(known / 2) - std::log(known / 2)), known};
}

double p_value(const Estimate& estimate) {
  if (estimate.value == 0) return 1;
  const double t = std::abs(estimate.value) / estimate.standard_error;
  if (estimate.degrees > kAsGoodAsInfinite) {
    return 2 * cdf(complement(boost::math::normal(), t));
  }
  return 2 * cdf(complement(boost::math::students_t(estimate.degrees), t));
}

double half_width(const Estimate& estimate, double confidence) {
  const double tail = (1 - confidence) / 2;
  const double t = estimate.degrees > kAsGoodAsInfinite
                       ? quantile(complement(boost::math::normal(), tail))
                       : quantile(complement(boost::math::students_t(estimate.degrees), tail));
  return t * estimate.standard_error;
}

std::vector<double> adjust_p_values(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p_values[a] > p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double least = 1;
  const auto n = static_cast<double>(p_values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double rank = n - static_cast<double>(i);
    least = std::min(least, p_values[order[i]] * n / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace fathom::compare
