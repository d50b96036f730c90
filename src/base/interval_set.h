#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fathom::base {

// Half-open stretch of time [begin, end).
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t length() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

// A set of instants as sorted, disjoint, non-touching, non-empty intervals. Every function below
// but normalize expects its arguments in this form, takes time linear in them and is exact.
using IntervalSet = std::vector<Interval>;

// Any intervals, in any order, overlapping or empty → the set they cover.
IntervalSet normalize(std::vector<Interval> intervals);

IntervalSet unite(std::span<const Interval> a, std::span<const Interval> b);
IntervalSet intersect(std::span<const Interval> a, std::span<const Interval> b);
IntervalSet subtract(std::span<const Interval> a, std::span<const Interval> b);

std::int64_t total_length(std::span<const Interval> set);

// Those of a set that share an instant with `window`, whole, and how much of them lies in it.
// Found by bisection: a long run has many intervals, and a call sees few of them.
std::span<const Interval> touching(std::span<const Interval> set, Interval window);
std::int64_t length_within(std::span<const Interval> set, Interval window);

}  // namespace fathom::base
