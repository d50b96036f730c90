#include "runtime/router_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/work.h"

namespace fathom {
namespace {

using runtime::Candidate;
using runtime::Learner;
using runtime::Question;
using runtime::Told;

// A device that was used for the operation this recently is known.
constexpr std::uint64_t kRecentCalls = 100;

}  // namespace

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

// The cheapest device that has not been used for long and that the budget pays for.
std::optional<Candidate> Router::State::to_explore(const Route& best, const Question& question) {
  const auto operation = static_cast<std::size_t>(best.operation);
  std::optional<Candidate> found;
  for (DeviceIndex device = 0; device < devices.size(); ++device) {
    if (device == best.device) continue;
    const auto ns = expected(question, device);
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

// What was expected is spent already; what it took beyond that follows.
void Router::State::charge(const Route& route, double whole_ns) {
  if (route.cause != RouteCause::exploring) return;
  exploration_ns[static_cast<std::size_t>(route.operation)].fetch_sub(whole_ns - route.expected_ns,
                                                                      std::memory_order_relaxed);
}

void Router::State::refuse(DeviceIndex device) {
  throw base::Error("router", fmt::format("no device {}", device));
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

}  // namespace fathom
