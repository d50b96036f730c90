#include "runtime/memory/leak_window.h"

#include <algorithm>

namespace fathom::runtime {

void LeakWindow::add(double seconds, std::int64_t used) {
  if (!begin_ || seconds < *begin_) {
    begin_ = seconds;
    lowest_ = used;
    complete_ = 0;
    return;
  }
  const double parts = (seconds - *begin_) / part_seconds_;
  if (parts < 1) {
    lowest_ = std::min(lowest_, used);
    return;
  }
  if (parts >= 2) {  // nobody looked for a while: what happened meanwhile is not known
    complete_ = 0;
  } else {
    if (complete_ == kParts) {
      std::shift_left(parts_.begin(), parts_.end(), 1);
      --complete_;
    }
    parts_[static_cast<std::size_t>(complete_++)] = lowest_;
  }
  begin_ = seconds;
  lowest_ = used;
}

std::optional<std::int64_t> LeakWindow::grown() const {
  if (complete_ < kParts) return std::nullopt;
  for (std::size_t i = 1; i < kParts; ++i) {
    if (parts_[i] <= parts_[i - 1]) return std::nullopt;
  }
  const std::int64_t growth = parts_.back() - parts_.front();
  if (growth < kLeastGrowth) return std::nullopt;
  return growth;
}

}  // namespace fathom::runtime
