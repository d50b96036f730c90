#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "fathom/router.h"
#include "runtime/cost_curve.h"
#include "runtime/quick_log2.h"

namespace fathom::runtime {

// What is known of an operation on a device.
struct Learner {
  explicit Learner(const std::function<double(double)>& ns) : curve(ns) {}
  CostCurve curve;
  std::atomic<std::uint64_t> last_call = 0;  // of the operation, by number
  std::mutex mutex;                          // for all below, and for writing the curve
  RouteStatistics statistics;
  double errors = 0;
  bool is_calibrated = false;
};

// Who told an operation to run where; the strongest that has a word decides.
struct Told {
  static constexpr std::uint32_t kNothing = UINT32_MAX;
  std::atomic<std::uint32_t> code = kNothing;
  std::atomic<std::uint32_t> environment = kNothing;
  std::atomic<std::uint32_t> file = kNothing;
};

struct Candidate {
  DeviceIndex device = kHost;
  double ns = 0;
};

// As the curves count sizes; of at least 1.
inline float log2_of_size(double size) {
  constexpr float kMostSize = 0x1p100f;
  return quick_log2(std::min(static_cast<float>(size), kMostSize));
}

}  // namespace fathom::runtime

namespace fathom {

struct Router::State {
  State(std::vector<DeviceModel> models, const RouterOptions& router_options);

  runtime::Learner& learner(Operation operation, DeviceIndex device) {
    return *learners[static_cast<std::size_t>(operation) * devices.size() + device];
  }
  double transfers_ns(Operation operation, double size, DeviceIndex device,
                      DeviceIndex where) const;
  std::optional<double> expected(Operation operation, double size, float log2_size,
                                 DeviceIndex device, DeviceIndex where) const;
  bool told(Operation operation, Route& route) const;
  std::optional<runtime::Candidate> to_explore(const Route& best, float log2_size);
  void obey(std::string_view environment);

  std::vector<DeviceModel> devices;
  RouterOptions options;
  std::vector<std::unique_ptr<runtime::Learner>> learners;  // by operation, then device
  std::vector<std::atomic<float>> link_slowness;            // measured / modelled
  std::vector<std::atomic<bool>> lost;
  std::array<runtime::Told, kOperations> orders;
  std::array<std::atomic<std::uint64_t>, kOperations> calls = {};
  std::array<std::atomic<double>, kOperations> exploration_ns = {};  // that may be spent
  bool links_matter = false;
};

}  // namespace fathom
