#include "report/text/level_chart.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fathom::report {
namespace {

constexpr std::array<std::string_view, 9> kEighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kShade = "░";

// In eighths of a row; what is there at all is seen.
std::int64_t height(std::int64_t value, std::int64_t top, std::size_t rows) {
  if (value <= 0 || top <= 0) return 0;
  const double eighths =
      static_cast<double>(value) / static_cast<double>(top) * 8 * static_cast<double>(rows);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(eighths));
}

}  // namespace

std::vector<std::int64_t> highest_by_column(const std::vector<ChartLevel>& levels,
                                            std::int64_t begin_ns, std::int64_t end_ns,
                                            std::size_t columns) {
  std::vector<std::int64_t> highest(columns, -1);
  if (columns == 0) return highest;
  const double scale = static_cast<double>(columns) /
                       static_cast<double>(std::max<std::int64_t>(1, end_ns - begin_ns));
  std::size_t next = 0;
  std::int64_t now = -1;
  for (std::size_t column = 0; column < columns; ++column) {
    std::int64_t most = now;
    const bool is_last = column + 1 == columns;
    for (; next < levels.size(); ++next) {
      const double at = static_cast<double>(levels[next].time_ns - begin_ns) * scale;
      if (!is_last && at >= static_cast<double>(column + 1)) break;
      now = levels[next].value;
      most = std::max(most, now);
    }
    highest[column] = most;
  }
  return highest;
}

std::vector<std::string> bar_rows(const std::vector<std::int64_t>& values,
                                  const std::vector<std::int64_t>& above, std::int64_t top,
                                  std::size_t rows) {
  std::vector<std::string> lines(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto floor = static_cast<std::int64_t>((rows - 1 - row) * 8);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t filled =
          std::clamp<std::int64_t>(height(values[i], top, rows) - floor, 0, 8);
      const bool is_shaded =
          filled == 0 && i < above.size() && height(above[i], top, rows) - floor >= 4;
      lines[row] += is_shaded ? kShade : kEighths[static_cast<std::size_t>(filled)];
    }
  }
  return lines;
}

}  // namespace fathom::report
