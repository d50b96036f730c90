#include "base/interval_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace fathom::base::interval_set_test {

// The definition itself: a set of whole instants.
using Instants = std::set<std::int64_t>;

Instants instants_of(const std::vector<Interval>& intervals) {
  Instants instants;
  for (const Interval& interval : intervals) {
    for (std::int64_t t = interval.begin; t < interval.end; ++t) instants.insert(t);
  }
  return instants;
}

std::vector<Interval> random_intervals(std::mt19937& random) {
  std::vector<Interval> intervals(std::uniform_int_distribution<std::size_t>(0, 8)(random));
  for (Interval& interval : intervals) {
    interval.begin = std::uniform_int_distribution<std::int64_t>(-40, 40)(random);
    interval.end = interval.begin + std::uniform_int_distribution<std::int64_t>(-2, 20)(random);
  }
  return intervals;
}

bool is_canonical(const IntervalSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i].begin >= set[i].end) return false;
    if (i > 0 && set[i - 1].end >= set[i].begin) return false;
  }
  return true;
}

TEST(IntervalSet, AgreesWithSetsOfInstantsOnRandomInput) {
  std::mt19937 random(20261115);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<Interval> first = random_intervals(random);
    const std::vector<Interval> second = random_intervals(random);
    const IntervalSet a = normalize(first);
    const IntervalSet b = normalize(second);
    const Instants ia = instants_of(first);
    const Instants ib = instants_of(second);
    Instants both = ia;
    both.insert(ib.begin(), ib.end());
    Instants common;
    Instants rest;
    for (const std::int64_t t : ia) (ib.contains(t) ? common : rest).insert(t);

    ASSERT_EQ(instants_of(a), ia);
    ASSERT_EQ(instants_of(unite(a, b)), both);
    ASSERT_EQ(instants_of(intersect(a, b)), common);
    ASSERT_EQ(instants_of(subtract(a, b)), rest);
    ASSERT_EQ(total_length(a), static_cast<std::int64_t>(ia.size()));
    if (!second.empty() && second[0].begin < second[0].end) {
      const Interval window = second[0];
      ASSERT_EQ(length_within(a, window), total_length(intersect(a, IntervalSet{window})));
      ASSERT_EQ(touching(a, window).size(), intersect(a, IntervalSet{window}).size());
    }
    for (const IntervalSet& set : {a, unite(a, b), intersect(a, b), subtract(a, b)}) {
      ASSERT_TRUE(is_canonical(set));
    }
  }
}

TEST(IntervalSet, TouchingIntervalsBecomeOne) {
  EXPECT_EQ(normalize({{5, 9}, {1, 5}}), (IntervalSet{{1, 9}}));
  EXPECT_EQ(unite(IntervalSet{{1, 5}}, IntervalSet{{5, 9}}), (IntervalSet{{1, 9}}));
}

TEST(IntervalSet, EmptyAndReversedIntervalsCoverNothing) {
  EXPECT_TRUE(normalize({{3, 3}, {9, 2}}).empty());
}

}  // namespace fathom::base::interval_set_test
