#include <gtest/gtest.h>

#include <cmath>

#include "runtime/cost_curve.h"
#include "runtime/cost_fit.h"

namespace fathom::runtime {
namespace {

std::vector<CallTime> calls_of(double launch, double a, double b) {
  std::vector<CallTime> calls;
  for (double size = 1; size < 1e7; size *= 4) {
    calls.push_back({size, launch + a * std::pow(size, b)});
  }
  return calls;
}

float log2f_of(double size) {
  return static_cast<float>(std::log2(size));
}

TEST(CostFit, FindsLaunchFactorAndExponent) {
  const CostFit fit = fit_cost(calls_of(5000, 0.25, 1));
  EXPECT_NEAR(fit.launch_ns, 5000, 50);
  EXPECT_NEAR(fit.a, 0.25, 0.01);
  EXPECT_NEAR(fit.b, 1, 0.01);
  const CostFit cubic = fit_cost(calls_of(100, 0.01, 3));
  EXPECT_NEAR(cubic.b, 3, 0.01);
}

TEST(CostFit, OneCallIsEnoughAndIsMet) {
  EXPECT_NEAR(fit_cost({{100, 2000}}).ns(100), 2000, 1);
}

TEST(CostCurve, MeetsCalibrationBetweenItsPointsAndBeyondThem) {
  CostCurve curve([](double) { return 1.0; });
  curve.calibrate(calls_of(20'000, 0.5, 1.5), 1.5);
  for (double size = 1; size < 1e8; size *= 1.7) {
    const double truth = 20'000 + 0.5 * std::pow(size, 1.5);
    EXPECT_NEAR(curve.ns(log2f_of(size)) / truth, 1, 0.02) << size;
  }
}

TEST(CostCurve, GrowsAsTheWorkDoesBeyondWhatWasMeasured) {
  CostCurve curve([](double) { return 1.0; });
  curve.calibrate({{1000, 1000}, {2000, 1900}, {4000, 3500}}, 1);  // fits n^0.9
  EXPECT_NEAR(curve.ns(log2f_of(4e6)) / 3.5e6, 1, 0.02);
}

TEST(CostCurve, AGuessThatIsWrongIsWrongEverywhere) {
  CostCurve curve([](double size) { return size; });
  curve.learn(log2f_of(1024), 8 * 1024);
  EXPECT_NEAR(curve.ns(log2f_of(1024)), 8 * 1024, 10);
  EXPECT_NEAR(curve.ns(log2f_of(1e6)) / 8e6, 1, 0.01);
}

TEST(CostCurve, OneOutlierMovesLittle) {
  CostCurve curve([](double) { return 1.0; });
  curve.calibrate(calls_of(1000, 1, 1), 1);
  const double before = curve.ns(10);
  curve.learn(10, before * 100);
  EXPECT_LT(curve.ns(10), before * 1.1);
  curve.learn(10, before);
  curve.learn(10, before * 100);  // not in a row
  EXPECT_LT(curve.ns(10), before * 1.2);
}

TEST(CostCurve, ThreeInARowAreANewLevelAtEverySize) {
  CostCurve curve([](double) { return 1.0; });
  curve.calibrate(calls_of(1000, 1, 1), 1);
  const double small = curve.ns(4);
  for (int call = 0; call < 2; ++call) {
    EXPECT_FALSE(curve.learn(10, 5 * (1000 + 1024)).level_shifted);
  }
  EXPECT_TRUE(curve.learn(10, 5 * (1000 + 1024)).level_shifted);
  EXPECT_NEAR(curve.ns(4) / small, 5, 0.5);
}

}  // namespace
}  // namespace fathom::runtime
