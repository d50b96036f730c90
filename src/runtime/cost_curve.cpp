#include "runtime/cost_curve.h"

#include <algorithm>
#include <cmath>

#include "runtime/cost_fit.h"
#include "runtime/quick_log2.h"

namespace fathom::runtime {
namespace {

constexpr float kLeastLog2Ns = -4;
constexpr float kMostLog2Ns = 80;
constexpr float kMuch = 0.5f;  // log2: 41 % longer, or 29 % shorter

float log2_of(double ns) {
  return std::clamp(static_cast<float>(std::log2(std::max(ns, 1e-3))), kLeastLog2Ns, kMostLog2Ns);
}

// Straight between the calls, which are sorted; at the ends as the last of them.
float off_at(const std::vector<std::pair<float, float>>& offs, float log2_size) {
  const auto after = std::ranges::lower_bound(offs, log2_size, {}, &std::pair<float, float>::first);
  if (after == offs.begin()) return offs.front().second;
  if (after == offs.end()) return offs.back().second;
  const auto before = after - 1;
  const float share = (log2_size - before->first) / (after->first - before->first);
  return before->second + share * (after->second - before->second);
}

}  // namespace

CostCurve::CostCurve(const std::function<double(double size)>& ns) {
  for (int node = 0; node < kNodes; ++node) {
    log2_ns_[static_cast<std::size_t>(node)] =
        log2_of(ns(std::exp2(static_cast<double>(node) / kPerOctave)));
  }
}

CostCurve::Spot CostCurve::spot(float log2_size) noexcept {
  const float at = std::clamp(log2_size * kPerOctave, 0.0f, static_cast<float>(kNodes - 1));
  const int node = std::min(static_cast<int>(at), kNodes - 2);
  return {node, at - static_cast<float>(node)};
}

double CostCurve::ns(float log2_size) const noexcept {
  const Spot at = spot(log2_size);
  const auto node = static_cast<std::size_t>(at.node);
  const float low = log2_ns_[node].load(std::memory_order_relaxed);
  const float high = log2_ns_[node + 1].load(std::memory_order_relaxed);
  return quick_exp2(low + at.share * (high - low));
}

void CostCurve::move(int node, float by) noexcept {
  std::atomic<float>& value = log2_ns_[static_cast<std::size_t>(node)];
  value.store(std::clamp(value.load(std::memory_order_relaxed) + by, kLeastLog2Ns, kMostLog2Ns),
              std::memory_order_relaxed);
}

void CostCurve::shift_level(float by) noexcept {
  for (int node = 0; node < kNodes; ++node) move(node, by);
  for (float& known : known_) known = std::min(known, 2.0f);
}

CostCurve::Learned CostCurve::learn(float log2_size, double ns) {
  const double predicted = this->ns(log2_size);
  const float off = log2_of(ns) - log2_of(predicted);
  Learned learned = {.error = std::abs(predicted - ns) / std::max(ns, 1.0)};

  const bool is_much = std::abs(off) > kMuch;
  if (!is_much || (off_count_ > 0 && (off > 0) != (off_[0] > 0))) off_count_ = 0;
  if (is_much) off_[static_cast<std::size_t>(off_count_++)] = off;
  if (off_count_ == 3) {
    std::ranges::sort(off_);
    shift_level(off_[1]);
    off_count_ = 0;
    learned.level_shifted = true;
    return learned;
  }

  const Spot at = spot(log2_size);
  const std::array<float, 2> shares = {1 - at.share, at.share};
  const float norm = shares[0] * shares[0] + shares[1] * shares[1];
  const auto first = static_cast<std::size_t>(at.node);
  const float known = std::max(known_[first] * shares[0], known_[first + 1] * shares[1]);
  const float moved = known < 1 ? off : std::clamp(off, -kMuch, kMuch);
  for (int i = 0; i < 2; ++i) {
    const auto side = static_cast<std::size_t>(i);
    float& knows = known_[first + side];
    move(at.node + i, moved * shares[side] / norm / (1 + knows));
    knows = std::min(kMostKnown, knows + shares[side]);
  }
  if (known < 1) {  // all we had was a guess, and it was wrong everywhere
    for (int node = 0; node < kNodes; ++node) {
      const bool is_beside = node == at.node || node == at.node + 1;
      if (!is_beside && known_[static_cast<std::size_t>(node)] == 0) move(node, off);
    }
  }
  return learned;
}

void CostCurve::calibrate(const std::vector<CallTime>& calls, double growth) {
  const CostFit fit = fit_cost(calls);
  std::vector<std::pair<float, float>> offs;
  for (const CallTime& call : calls) {
    if (call.ns <= 0 || call.size < 1) continue;
    offs.emplace_back(static_cast<float>(std::log2(call.size)),
                      log2_of(call.ns) - log2_of(fit.ns(call.size)));
  }
  if (offs.empty()) return;
  std::ranges::sort(offs);
  for (int node = 0; node < kNodes; ++node) {
    const float log2_size = static_cast<float>(node) / kPerOctave;
    const auto index = static_cast<std::size_t>(node);
    const float known_size = std::min(log2_size, offs.back().first);
    const float grown = static_cast<float>(growth) * (log2_size - known_size);
    log2_ns_[index] = std::clamp(
        log2_of(fit.ns(std::exp2(double{known_size}))) + off_at(offs, known_size) + grown,
        kLeastLog2Ns, kMostLog2Ns);
    known_[index] = kMostKnown / 2;
  }
  off_count_ = 0;
}

}  // namespace fathom::runtime
