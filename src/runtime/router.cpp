#include "fathom/router.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "runtime/router_state.h"
#include "runtime/work.h"

namespace fathom {
namespace {

using runtime::Candidate;
using runtime::CostCurve;
using runtime::Learner;
using runtime::log2_of_size;
using runtime::Question;
using runtime::Told;

// For one decision in 32 it is asked whether it should explore. Which one, is left to chance: a
// program that asks for several operations in turn, of one router or of several, has each looked
// at.
bool may_look() {
  thread_local std::uint32_t dice = 1;
  dice = dice * 1664525u + 1013904223u;
  return dice >> 27 == 0;
}

}  // namespace

// What each decision passes through is in this file, so that the compiler can inline it.
double Router::State::transfers_ns(Operation operation, double bytes, DeviceIndex device,
                                   DeviceIndex where) const {
  if (device == where || !links_matter) return 0;
  double ns = 0;
  for (const DeviceIndex end : {device, where}) {  // what leaves one passes the host
    if (devices[end].shares_host_memory) continue;
    ns += runtime::modelled_transfers_of(devices[end], operation, bytes) *
          double{link_slowness[end].load(std::memory_order_relaxed)};
  }
  return ns;
}

std::optional<double> Router::State::expected(const Question& question, DeviceIndex device) const {
  if (lost[device].load(std::memory_order_relaxed)) return std::nullopt;
  const std::optional<std::uint64_t>& memory = devices[device].memory_bytes;
  if (memory && question.bytes > static_cast<double>(*memory)) return std::nullopt;
  const std::size_t index = static_cast<std::size_t>(question.operation) * devices.size() + device;
  return learners[index]->curve.ns(question.log2_size) +
         transfers_ns(question.operation, question.bytes, device, question.where);
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

Route Router::route(Operation operation, double size, DeviceIndex where,
                    std::optional<double> bytes) const {
  state_->expect_device(where);
  Route route = {.operation = operation, .where = where, .size = std::max(size, 1.0)};
  route.bytes = bytes.value_or(runtime::bytes_touched(operation, route.size));
  const Question question = {operation, log2_of_size(route.size), route.bytes, where};
  std::size_t possible = 0;
  for (DeviceIndex device = 0; device < state_->devices.size(); ++device) {
    const auto ns = state_->expected(question, device);
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
    route.expected_ns = state_->expected(question, route.device).value_or(0);
    if (route.device != best.device) route.other = best.device, route.other_ns = best.ns;
    return route;
  }
  if (possible > 1 && state_->options.exploration_share > 0 && may_look()) {
    if (const auto found = state_->to_explore(route, question)) {
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
                                          DeviceIndex where, std::optional<double> bytes) const {
  state_->expect_device(device);
  state_->expect_device(where);
  size = std::max(size, 1.0);
  return state_->expected({operation, log2_of_size(size),
                           bytes.value_or(runtime::bytes_touched(operation, size)), where},
                          device);
}

std::string Router::reason(const Route& route) const {
  for (const DeviceIndex device : {route.device, route.other, route.where}) {
    state_->expect_device(device);
  }
  const auto time = [](double ns) { return base::format_duration(ns); };
  const std::string& device = state_->devices[route.device].name;
  const std::string& other = state_->devices[route.other].name;
  const double moving =
      state_->transfers_ns(route.operation, route.bytes, route.other, route.where);
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

void Router::learn(const Route& route, double ns, std::optional<double> whole_ns) {
  state_->expect_device(route.device);
  state_->expect_device(route.where);
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
  if (route.cause != RouteCause::exploring) return;
  state_->charge(route, whole_ns ? *whole_ns
                                 : ns + state_->transfers_ns(route.operation, route.bytes,
                                                             route.device, route.where));
}

void Router::charge(const Route& route, double whole_ns) {
  if (whole_ns > 0) state_->charge(route, whole_ns);
}

void Router::learn_transfer(DeviceIndex device, std::size_t bytes, double ns) {
  state_->expect_device(device);
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
  state_->expect_device(device);
  Learner& learner = state_->learner(operation, device);
  const std::lock_guard lock(learner.mutex);
  learner.curve.calibrate(calls, runtime::growth_of(operation));
  learner.is_calibrated = true;
}

bool Router::is_calibrated(Operation operation, DeviceIndex device) const {
  state_->expect_device(device);
  Learner& learner = state_->learner(operation, device);
  const std::lock_guard lock(learner.mutex);
  return learner.is_calibrated;
}

void Router::force(Operation operation, std::optional<DeviceIndex> device) {
  if (device) state_->expect_device(*device);
  state_->orders[static_cast<std::size_t>(operation)].code = device.value_or(Told::kNothing);
}

void Router::force_by_file(Operation operation, DeviceIndex device) {
  state_->expect_device(device);
  state_->orders[static_cast<std::size_t>(operation)].file = device;
}

void Router::lose(DeviceIndex device) {
  state_->expect_device(device);
  if (device != kHost) state_->lost[device] = true;
}

bool Router::is_lost(DeviceIndex device) const {
  state_->expect_device(device);
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
