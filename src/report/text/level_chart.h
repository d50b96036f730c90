#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::report {

// A level of something over time, that holds until the next one.
struct ChartLevel {
  std::int64_t time_ns = 0;
  std::int64_t value = 0;
};

// The highest level of each of `columns` equal stretches of [begin_ns, end_ns]. -1 before the first
// level, and everywhere where there is none.
std::vector<std::int64_t> highest_by_column(const std::vector<ChartLevel>& levels,
                                            std::int64_t begin_ns, std::int64_t end_ns,
                                            std::size_t columns);

// `rows` lines of eighth blocks, the top one first, each as wide as `values`; `top` fills them all.
// What lies between a value and the one of `above` (as many, or none) is shaded.
std::vector<std::string> bar_rows(const std::vector<std::int64_t>& values,
                                  const std::vector<std::int64_t>& above, std::int64_t top,
                                  std::size_t rows);

}  // namespace fathom::report
