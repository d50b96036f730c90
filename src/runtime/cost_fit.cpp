#include "runtime/cost_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::runtime {
namespace {

// For a given b, the launch and a of least squares of (predicted - measured) / measured.
CostFit with_exponent(const std::vector<CallTime>& calls, double b) {
  double ll = 0;
  double la = 0;
  double aa = 0;
  double l = 0;
  double a = 0;
  for (const CallTime& call : calls) {
    const double x = 1 / call.ns;
    const double y = std::pow(call.size, b) / call.ns;
    ll += x * x;
    la += x * y;
    aa += y * y;
    l += x;
    a += y;
  }
  const double determinant = ll * aa - la * la;
  CostFit fit = {.b = b};
  if (determinant > 1e-12 * ll * aa) {
    fit.launch_ns = (l * aa - a * la) / determinant;
    fit.a = (a * ll - l * la) / determinant;
  }
  if (fit.launch_ns > 0 && fit.a > 0) return fit;
  // One of them alone explains more.
  if (fit.launch_ns <= 0 && aa > 0) return {0, a / aa, b};
  return {l / ll, 0, b};
}

double distance(const CostFit& fit, const std::vector<CallTime>& calls) {
  double sum = 0;
  for (const CallTime& call : calls) {
    const double off = std::log2(fit.ns(call.size) / call.ns);
    sum += off * off;
  }
  return sum;
}

}  // namespace

double CostFit::ns(double size) const {
  return launch_ns + a * std::pow(size, b);
}

CostFit fit_cost(const std::vector<CallTime>& calls) {
  std::vector<CallTime> usable;
  std::ranges::copy_if(calls, std::back_inserter(usable),
                       [](const CallTime& call) { return call.ns > 0 && call.size >= 1; });
  CostFit best;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= 64; ++step) {
    const CostFit fit = with_exponent(usable, 0.3 + 0.05 * step);
    const double off = distance(fit, usable);
    if (off < least) {
      least = off;
      best = fit;
    }
  }
  return best;
}

}  // namespace fathom::runtime
