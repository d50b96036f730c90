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

// What is asked for, as the curves and links count it.
struct Question {
  Operation operation = Operation::xor_words;
  float log2_size = 0;
  double bytes = 0;
  DeviceIndex where = kHost;
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
  void expect_device(DeviceIndex device) const {
    if (device >= devices.size()) refuse(device);
  }
  [[noreturn]] static void refuse(DeviceIndex device);
  double transfers_ns(Operation operation, double bytes, DeviceIndex device,
                      DeviceIndex where) const;
  std::optional<double> expected(const runtime::Question& question, DeviceIndex device) const;
  bool told(Operation operation, Route& route) const;
  std::optional<runtime::Candidate> to_explore(const Route& best,
                                               const runtime::Question& question);
  void charge(const Route& route, double whole_ns);
  void obey(std::string_view environment);

  std::vector<DeviceModel> devices;
  RouterOptions options;
  std::vector<std::unique_ptr<runtime::Learner>> learners;  // by operation, then device
  std::vector<std::atomic<float>> link_slowness;            // measured / modelled
  std::vector<std::atomic<bool>> lost;
  std::array<runtime::Told, kOperations> orders;
  std::array<std::atomic<std::uint64_t>, kOperations> calls = {};
  // That may be spent; negative where a call cost more than there was.
  std::array<std::atomic<double>, kOperations> exploration_ns = {};
  bool links_matter = false;
};

}  // namespace fathom
