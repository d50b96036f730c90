#include "runtime/cpu/kernels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/device.h"

namespace fathom::runtime {

void xor_range(std::uint32_t* out, const std::uint32_t* a, const std::uint32_t* b,
               std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) out[i] = a[i] ^ b[i];
}

void elementwise_range(Operation operation, float alpha, float* out, const float* a, const float* b,
                       std::size_t elements) {
  switch (operation) {
    case Operation::add:
      for (std::size_t i = 0; i < elements; ++i) out[i] = a[i] + b[i];
      return;
    case Operation::multiply:
      for (std::size_t i = 0; i < elements; ++i) out[i] = a[i] * b[i];
      return;
    case Operation::relu:
      for (std::size_t i = 0; i < elements; ++i) out[i] = a[i] > 0 ? a[i] : 0;
      return;
    default:
      for (std::size_t i = 0; i < elements; ++i) out[i] = alpha * a[i] + b[i];
      return;
  }
}

double sum_range(const float* a, std::size_t elements) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes = {};
  std::size_t i = 0;
  for (; i + kLanes <= elements; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane];
  }
  for (; i < elements; ++i) lanes[i % kLanes] += a[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

void breadth_first(const std::uint32_t* offsets, const std::uint32_t* targets, std::size_t nodes,
                   std::uint32_t source, std::uint32_t* distances) {
  std::fill_n(distances, nodes, kUnreached);
  std::vector<std::uint32_t> queue;
  queue.reserve(nodes);
  queue.push_back(source);
  distances[source] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t node = queue[next];
    for (std::uint32_t edge = offsets[node]; edge < offsets[node + 1]; ++edge) {
      std::uint32_t& distance = distances[targets[edge]];
      if (distance != kUnreached) continue;
      distance = distances[node] + 1;
      queue.push_back(targets[edge]);
    }
  }
}

}  // namespace fathom::runtime
