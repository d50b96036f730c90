#include "report/text/bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace fathom::report {

std::string bar(double share, std::size_t columns) {
  static constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                               "▌", "▋", "▊", "▉"};
  const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  auto eighths = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(columns) * 8));
  if (eighths == 0 && clamped > 0) eighths = 1;  // something is never nothing
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  const std::size_t used = eighths / 8 + (eighths % 8 > 0 ? 1 : 0);
  return text.append(columns - used, ' ');
}

}  // namespace fathom::report
