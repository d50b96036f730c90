#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "base/terminal.h"

namespace fathom::base {
namespace {

constexpr std::int64_t kRedrawMs = 100;

}  // namespace

Progress::Progress(std::string_view label, std::uint64_t total)
    : label_(printable(label)), total_(total), visible_(is_terminal(stderr)) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::advance(std::uint64_t amount) {
  const std::uint64_t done = done_.fetch_add(amount, std::memory_order_relaxed) + amount;
  if (!visible_) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_);
  std::int64_t due = next_draw_ms_.load(std::memory_order_relaxed);
  if (elapsed.count() < due) return;
  // Of several threads that find it due, the one that moves the due time draws.
  if (next_draw_ms_.compare_exchange_strong(due, elapsed.count() + kRedrawMs)) draw(done);
}

void Progress::draw(std::uint64_t done) {
  drawn_ = true;
  const double share = total_ == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total_);
  fmt::print(stderr, "\r\x1b[K{} {:.0f} %", label_, std::min(share, 1.0) * 100);
  std::fflush(stderr);
}

}  // namespace fathom::base
