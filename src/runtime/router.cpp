#include "fathom/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "base/error.h"
#include "base/format.h"
#include "runtime/cost_curve.h"
#include "runtime/quick_log2.h"
#include "runtime/work.h"

namespace fathom::runtime {

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

}  // namespace fathom::runtime

namespace fathom {
namespace {

using runtime::CostCurve;
using runtime::Learner;
using runtime::Told;

// Every so many decisions of a thread it is asked whether one should explore.
constexpr unsigned kDecisionsPerLook = 32;
// A device that was used for the operation this recently is known.
constexpr std::uint64_t kRecentCalls = 100;

float log2_of_size(double size) {
  constexpr float kMostSize = 0x1p100f;
  return runtime::quick_log2(std::min(static_cast<float>(size), kMostSize));
}

struct Candidate {
  DeviceIndex device = kHost;
  double ns = 0;
};

}  // namespace

struct Router::State {
  State(std::vector<DeviceModel> models, const RouterOptions& router_options);

  Learner& learner(Operation operation, DeviceIndex device) {
    return *learners[static_cast<std::size_t>(operation) * devices.size() + device];
  }
  double transfers_ns(Operation operation, double size, DeviceIndex device,
                      DeviceIndex where) const;
  std::optional<double> expected(Operation operation, double size, float log2_size,
                                 DeviceIndex device, DeviceIndex where) const;
  bool told(Operation operation, Route& route) const;
  std::optional<Candidate> to_explore(const Route& best, float log2_size);
  void obey(std::string_view environment);

  std::vector<DeviceModel> devices;
  RouterOptions options;
  std::vector<std::unique_ptr<Learner>> learners;  // by operation, then device
  std::vector<std::atomic<float>> link_slowness;   // measured / modelled
  std::vector<std::atomic<bool>> lost;
  std::array<Told, kOperations> orders;
  std::array<std::atomic<std::uint64_t>, kOperations> calls = {};
  std::array<std::atomic<double>, kOperations> exploration_ns = {};  // that may be spent
  bool links_matter = false;
};

Router::State::State(std::vector<DeviceModel> models, const RouterOptions& router_options)
    : devices(std::move(models)),
      options(router_options),
      link_slowness(devices.size()),
      lost(devices.size()) {
  if (devices.empty()) throw base::Error("router", "no device", "The first one is the host");
  for (std::size_t operation = 0; operation < kOperations; ++operation) {
    for (const DeviceModel& model : devices) {
      learners.push_back(std::make_unique<Learner>([&](double size) {
        return runtime::modelled_ns(model, static_cast<Operation>(operation), size);
      }));
    }
  }
  for (std::size_t device = 0; device < devices.size(); ++device) {
    link_slowness[device] = 1;
    links_matter = links_matter || !devices[device].shares_host_memory;
  }
  if (options.environment) obey(*options.environment);
}

double Router::State::transfers_ns(Operation operation, double size, DeviceIndex device,
                                   DeviceIndex where) const {
  if (device == where || !links_matter) return 0;
  double ns = 0;
  for (const DeviceIndex end : {device, where}) {  // what leaves one passes the host
    if (devices[end].shares_host_memory) continue;
    ns += runtime::modelled_transfers_ns(devices[end], operation, size) *
          double{link_slowness[end].load(std::memory_order_relaxed)};
  }
  return ns;
}

std::optional<double> Router::State::expected(Operation operation, double size, float log2_size,
                                              DeviceIndex device, DeviceIndex where) const {
  if (lost[device].load(std::memory_order_relaxed)) return std::nullopt;
  const std::optional<std::uint64_t>& memory = devices[device].memory_bytes;
  if (memory && runtime::bytes_touched(operation, size) > static_cast<double>(*memory)) {
    return std::nullopt;
  }
  const std::size_t index = static_cast<std::size_t>(operation) * devices.size() + device;
  return learners[index]->curve.ns(log2_size) + transfers_ns(operation, size, device, where);
}

bool Router::State::told(Operation operation, Route& route) const {
  const Told& order = orders[static_cast<std::size_t>(operation)];
  const auto obeys = [&](const std::atomic<std::uint32_t>& device, RouteCause cause) {
    const std::uint32_t index = device.load(std::memory_order_relaxed);
    if (index == Told::kNothing || lost[index]) return false;
    route.device = index;
    route.cause = cause;
    return true;
  };
  return obeys(order.code, RouteCause::told_by_code) ||
         obeys(order.environment, RouteCause::told_by_environment) ||
         obeys(order.file, RouteCause::told_by_file);
}

// The cheapest device that has not been used for long and that the budget pays for.
std::optional<Candidate> Router::State::to_explore(const Route& best, float log2_size) {
  const auto operation = static_cast<std::size_t>(best.operation);
  std::optional<Candidate> found;
  for (DeviceIndex device = 0; device < devices.size(); ++device) {
    if (device == best.device) continue;
    const auto ns = expected(best.operation, best.size, log2_size, device, best.where);
    if (!ns || *ns > options.exploration_bound * best.expected_ns) continue;
    if (calls[operation] - learner(best.operation, device).last_call < kRecentCalls) continue;
    if (!found || *ns < found->ns) found = Candidate{device, *ns};
  }
  if (!found) return std::nullopt;
  const double extra = found->ns - best.expected_ns;
  double left = exploration_ns[operation];
  do {
    if (left < extra) return std::nullopt;
  } while (!exploration_ns[operation].compare_exchange_weak(left, left - extra));
  return found;
}

void Router::State::obey(std::string_view environment) {
  const auto fail = [&](std::string_view word, const std::string& what) {
    throw base::Error(fmt::format("FATHOM_ROUTE: '{}'", word), what,
                      "Write OPERATION=DEVICE, for example matmul=cpu,*=opencl:0");
  };
  while (!environment.empty()) {
    const std::string_view word = environment.substr(0, environment.find(','));
    environment.remove_prefix(std::min(environment.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) fail(word, "no '='");
    const std::string_view device = word.substr(equals + 1);
    const auto found = std::ranges::find(devices, device, &DeviceModel::name);
    if (found == devices.end()) fail(word, "no such device");
    const auto index = static_cast<DeviceIndex>(found - devices.begin());
    const std::string_view name = word.substr(0, equals);
    const auto operation = operation_named(name);
    if (!operation && name != "*") fail(word, "no such operation");
    for (std::size_t i = 0; i < kOperations; ++i) {
      const bool is_meant = operation ? static_cast<std::size_t>(*operation) == i
                                      : orders[i].environment == Told::kNothing;
      if (is_meant) orders[i].environment = index;
    }
  }
}

Router::Router(std::vector<DeviceModel> devices, const RouterOptions& options)
    : state_(std::make_unique<State>(std::move(devices), options)) {}
Router::~Router() = default;
Router::Router(Router&& other) noexcept = default;
Router& Router::operator=(Router&& other) noexcept = default;

const std::vector<DeviceModel>& Router::devices() const {
  return state_->devices;
}

std::optional<DeviceIndex> Router::device_named(std::string_view name) const {
  const auto found = std::ranges::find(state_->devices, name, &DeviceModel::name);
  if (found == state_->devices.end()) return std::nullopt;
  return static_cast<DeviceIndex>(found - state_->devices.begin());
}

Route Router::route(Operation operation, double size, DeviceIndex where) const {
  Route route = {.operation = operation, .where = where, .size = std::max(size, 1.0)};
  const auto log2_size = log2_of_size(route.size);
  std::size_t possible = 0;
  for (DeviceIndex device = 0; device < state_->devices.size(); ++device) {
    const auto ns = state_->expected(operation, route.size, log2_size, device, where);
    if (!ns) continue;
    if (possible == 0 || *ns < route.expected_ns) {
      route.other = possible == 0 ? device : route.device;
      route.other_ns = possible == 0 ? *ns : route.expected_ns;
      route.device = device;
      route.expected_ns = *ns;
    } else if (possible == 1 || *ns < route.other_ns) {
      route.other = device;
      route.other_ns = *ns;
    }
    ++possible;
  }
  if (possible > 1) route.cause = RouteCause::fastest;
  const Candidate best = {route.device, route.expected_ns};
  if (state_->told(operation, route)) {
    route.expected_ns =
        state_->expected(operation, route.size, log2_size, route.device, where).value_or(0);
    if (route.device != best.device) route.other = best.device, route.other_ns = best.ns;
    return route;
  }
  thread_local unsigned decisions = 0;
  if (possible > 1 && state_->options.exploration_share > 0 &&
      ++decisions % kDecisionsPerLook == 0) {
    if (const auto found = state_->to_explore(route, log2_size)) {
      route.other = best.device;
      route.other_ns = best.ns;
      route.device = found->device;
      route.expected_ns = found->ns;
      route.cause = RouteCause::exploring;
    }
  }
  return route;
}

std::optional<double> Router::expected_ns(Operation operation, double size, DeviceIndex device,
                                          DeviceIndex where) const {
  size = std::max(size, 1.0);
  return state_->expected(operation, size, log2_of_size(size), device, where);
}

std::string Router::reason(const Route& route) const {
  const auto time = [](double ns) { return base::format_duration(ns); };
  const std::string& device = state_->devices[route.device].name;
  const std::string& other = state_->devices[route.other].name;
  const double moving = state_->transfers_ns(route.operation, route.size, route.other, route.where);
  const std::string its_transfers =
      moving > 0 ? fmt::format(", {} of it for transfers", time(moving)) : "";
  switch (route.cause) {
    case RouteCause::fastest:
      return fmt::format("{}: {} expected; {} would take {}{}", device, time(route.expected_ns),
                         other, time(route.other_ns), its_transfers);
    case RouteCause::only_device:
      return fmt::format("{}: {} expected; no other device can do it", device,
                         time(route.expected_ns));
    case RouteCause::exploring:
      return fmt::format("{}: {} expected, to see whether {} with {} is still the best", device,
                         time(route.expected_ns), other, time(route.other_ns));
    default:
      break;
  }
  const std::string_view who = route.cause == RouteCause::told_by_code          ? "the program"
                               : route.cause == RouteCause::told_by_environment ? "FATHOM_ROUTE"
                                                                                : "the profile";
  if (route.other == route.device || route.other_ns >= route.expected_ns) {
    return fmt::format("{}: {} says so; {} expected", device, who, time(route.expected_ns));
  }
  return fmt::format("{}: {} says so; {} expected, {} would take {}", device, who,
                     time(route.expected_ns), other, time(route.other_ns));
}

void Router::learn(const Route& route, double ns) {
  if (!(ns > 0)) return;
  const auto operation = static_cast<std::size_t>(route.operation);
  Learner& learner = state_->learner(route.operation, route.device);
  const auto log2_size = log2_of_size(std::max(route.size, 1.0));
  {
    const std::lock_guard lock(learner.mutex);
    const CostCurve::Learned learned = learner.curve.learn(log2_size, ns);
    ++learner.statistics.calls;
    learner.statistics.explored += route.cause == RouteCause::exploring ? 1 : 0;
    learner.statistics.level_shifts += learned.level_shifted ? 1 : 0;
    learner.statistics.total_ns += ns;
    learner.errors += learned.error;
  }
  learner.last_call = ++state_->calls[operation];
  state_->exploration_ns[operation].fetch_add(ns * state_->options.exploration_share,
                                              std::memory_order_relaxed);
}

void Router::learn_transfer(DeviceIndex device, std::size_t bytes, double ns) {
  const double modelled =
      runtime::modelled_transfer_ns(state_->devices[device], static_cast<double>(bytes));
  if (!(modelled > 0) || !(ns > 0)) return;
  std::atomic<float>& slowness = state_->link_slowness[device];
  const auto measured = static_cast<float>(std::clamp(ns / modelled, 1e-3, 1e3));
  // A tenth of the way, by ratio. Two writers at once lose one of both: it is a mean.
  slowness = slowness * std::pow(measured / slowness, 0.1f);
}

void Router::calibrate(Operation operation, DeviceIndex device,
                       const std::vector<CallTime>& calls) {
  Learner& learner = state_->learner(operation, device);
  const std::lock_guard lock(learner.mutex);
  learner.curve.calibrate(calls, runtime::growth_of(operation));
  learner.is_calibrated = true;
}

bool Router::is_calibrated(Operation operation, DeviceIndex device) const {
  Learner& learner = state_->learner(operation, device);
  const std::lock_guard lock(learner.mutex);
  return learner.is_calibrated;
}

void Router::force(Operation operation, std::optional<DeviceIndex> device) {
  if (device && *device >= state_->devices.size()) {
    throw base::Error("router", fmt::format("no device {}", *device));
  }
  state_->orders[static_cast<std::size_t>(operation)].code = device.value_or(Told::kNothing);
}

void Router::force_by_file(Operation operation, DeviceIndex device) {
  state_->orders[static_cast<std::size_t>(operation)].file = device;
}

void Router::lose(DeviceIndex device) {
  if (device != kHost) state_->lost[device] = true;
}

bool Router::is_lost(DeviceIndex device) const {
  return state_->lost[device];
}

std::vector<RouteStatistics> Router::statistics() const {
  std::vector<RouteStatistics> all;
  for (std::size_t i = 0; i < state_->learners.size(); ++i) {
    Learner& learner = *state_->learners[i];
    const std::lock_guard lock(learner.mutex);
    if (learner.statistics.calls == 0) continue;
    all.push_back(learner.statistics);
    all.back().operation = static_cast<Operation>(i / state_->devices.size());
    all.back().device = static_cast<DeviceIndex>(i % state_->devices.size());
    all.back().mean_error = learner.errors / static_cast<double>(learner.statistics.calls);
  }
  return all;
}

}  // namespace fathom
