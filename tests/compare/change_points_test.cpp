#include "compare/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "trace/corpus.h"

namespace fathom::compare::change_points_test {

std::vector<std::size_t> indices(const std::vector<ChangePoint>& points) {
  std::vector<std::size_t> all;
  for (const ChangePoint& point : points) all.push_back(point.index);
  return all;
}

std::vector<double> noisy_levels(std::initializer_list<std::pair<int, double>> levels,
                                 double noise) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> series;
  for (const auto& [count, ns] : levels) {
    for (int i = 0; i < count; ++i) series.push_back(std::log(ns) + normal(random));
  }
  return series;
}

TEST(ChangePoints, AreFoundWhereTheLevelMoved) {
  const auto series = noisy_levels({{20, 100}, {15, 110}, {25, 90}}, 0.01);
  const std::vector<ChangePoint> points = change_points(series);
  EXPECT_EQ(indices(points), (std::vector<std::size_t>{20, 35}));
  EXPECT_NEAR(points[0].change_pct, 10, 1.5);
  EXPECT_NEAR(points[1].change_pct, -18, 1.5);
  EXPECT_NEAR(points[1].log_before, std::log(110), 0.01);
  EXPECT_NEAR(points[1].log_after, std::log(90), 0.01);
}

TEST(ChangePoints, AreNoneInNoiseNorBelowTheThreshold) {
  EXPECT_TRUE(change_points(noisy_levels({{60, 100}}, 0.02)).empty());
  EXPECT_TRUE(change_points(noisy_levels({{30, 100}, {30, 103}}, 0.005)).empty());
}

TEST(ChangePoints, AreNotMadeByAnOutlierOrAShortSeries) {
  std::vector<double> series = noisy_levels({{40, 100}}, 0.01);
  series[20] += 1;
  EXPECT_TRUE(change_points(series).empty());
  EXPECT_TRUE(change_points(std::vector<double>{}).empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 2, 2}).empty());
}

TEST(ChangePoints, OfARealSeriesAreThoseThatItsPeopleKnow) {
  const std::vector<std::string> files = trace::corpus_files("stats");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  std::ifstream file(files.back());  // tigerbeetle.json
  std::vector<double> series = nlohmann::json::parse(file).at("series");
  for (double& value : series) value = std::log(value);
  EXPECT_EQ(indices(change_points(series)), (std::vector<std::size_t>{15, 71}));
}

}  // namespace fathom::compare::change_points_test
