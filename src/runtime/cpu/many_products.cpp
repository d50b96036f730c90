#include "runtime/cpu/many_products.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <mutex>

#include "runtime/cpu/blas.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

// By octaves of the work of a product and of their number.
constexpr std::size_t kWorks = 64;
constexpr std::size_t kCounts = 8;
std::mutex ways_mutex;
std::array<std::array<WayOfMany, kCounts>, kWorks> ways;

std::size_t octave_of(double number, std::size_t most) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(number, 1.0, 0x1p62));
  return std::min<std::size_t>(std::bit_width(whole) - 1, most - 1);
}

void in_parallel(std::size_t count, std::size_t per_task,
                 const std::function<void(std::size_t)>& product) {
  const OneThreadPerProduct one_thread;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, per_task), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) product(i);
  });
}

}  // namespace

bool WayOfMany::is_parallel() const {
  if (calls_ < kFirstLooks) return false;
  if (calls_ < 2 * kFirstLooks) return true;
  const bool is_faster = ns_[1] < ns_[0];
  return calls_ % kCallsPerLook == 0 ? !is_faster : is_faster;
}

void WayOfMany::took(bool was_parallel, double ns) {
  constexpr double kFading = 0.1;
  double& known = ns_[was_parallel ? 1 : 0];
  known = known == 0 ? ns : std::min(ns, known + kFading * (ns - known));
  ++calls_;
}

void multiply_many(const MatmulShape& shape, std::size_t count,
                   const std::function<void(std::size_t)>& product) {
  MatmulShape one = shape;
  one.batch = 1;
  const double flops = flops_of(Operation::matmul, size_of(one));
  if (count < 2 || flops * static_cast<double>(count) < 2 * kFlopsPerTask) {
    for (std::size_t i = 0; i < count; ++i) product(i);
    return;
  }
  WayOfMany& way = ways[octave_of(flops, kWorks)][octave_of(static_cast<double>(count), kCounts)];
  bool is_parallel = false;
  {
    const std::lock_guard lock(ways_mutex);
    is_parallel = way.is_parallel();
  }
  const auto begin = std::chrono::steady_clock::now();
  if (is_parallel) {
    in_parallel(count, static_cast<std::size_t>(kFlopsPerTask / flops) + 1, product);
  } else {
    for (std::size_t i = 0; i < count; ++i) product(i);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  const std::lock_guard lock(ways_mutex);
  way.took(is_parallel, took.count() / static_cast<double>(count));
}

}  // namespace fathom::runtime
