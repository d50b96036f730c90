#include "base/interval_set.h"

#include <algorithm>

#include "base/sort_runs.h"

namespace fathom::base {
namespace {

// Adds an interval that begins no earlier than any added before.
void append(IntervalSet& set, Interval next) {
  if (next.begin >= next.end) return;
  if (!set.empty() && next.begin <= set.back().end) {
    set.back().end = std::max(set.back().end, next.end);
  } else {
    set.push_back(next);
  }
}

}  // namespace

IntervalSet normalize(std::vector<Interval> intervals) {
  // What comes here is mostly the work of a few streams, each in order.
  sort_runs(std::span(intervals),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  IntervalSet set;
  set.reserve(intervals.size());
  for (const Interval& interval : intervals) append(set, interval);
  return set;
}

IntervalSet unite(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet set;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const bool from_a = y == b.end() || (x != a.end() && x->begin <= y->begin);
    append(set, from_a ? *x++ : *y++);
  }
  return set;
}

IntervalSet intersect(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet set;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    append(set, {std::max(x->begin, y->begin), std::min(x->end, y->end)});
    if (x->end < y->end) {
      ++x;
    } else {
      ++y;
    }
  }
  return set;
}

IntervalSet subtract(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet set;
  auto hole = b.begin();
  for (Interval left : a) {
    while (hole != b.end() && hole->end <= left.begin) ++hole;
    for (auto h = hole; h != b.end() && h->begin < left.end; ++h) {
      append(set, {left.begin, h->begin});
      left.begin = std::max(left.begin, h->end);
    }
    append(set, left);
  }
  return set;
}

std::span<const Interval> touching(std::span<const Interval> set, Interval window) {
  const auto first = std::partition_point(
      set.begin(), set.end(), [&](const Interval& each) { return each.end <= window.begin; });
  const auto last = std::partition_point(
      first, set.end(), [&](const Interval& each) { return each.begin < window.end; });
  return {first, last};
}

std::int64_t length_within(std::span<const Interval> set, Interval window) {
  std::int64_t total = 0;
  for (const Interval& each : touching(set, window)) {
    total += std::min(each.end, window.end) - std::max(each.begin, window.begin);
  }
  return total;
}

std::int64_t total_length(std::span<const Interval> set) {
  std::int64_t total = 0;
  for (const Interval& interval : set) total += interval.length();
  return total;
}

}  // namespace fathom::base
