#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::base {

// One line on standard error, rewritten as work goes on, gone when it ends. Shows itself only on a
// terminal and only when the work takes longer than half a second. Any thread may call advance.
class Progress {
 public:
  Progress(std::string_view label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t amount);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::uint64_t done);

  const std::string label_;
  const std::uint64_t total_;
  const bool visible_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::int64_t> next_draw_ms_ = 500;
  std::atomic<bool> drawn_ = false;
};

}  // namespace fathom::base
