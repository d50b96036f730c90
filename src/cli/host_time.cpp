#include "cli/host_time.h"

#include "runtime/machine_profile.h"

namespace fathom::cli {
namespace {

std::optional<double> measured_ns(std::string_view name, double size) {
  static const std::optional<runtime::MachineProfile> profile =
      runtime::machine_profile_or_why_not(runtime::machine_profile_path());
  if (!profile) return std::nullopt;
  static const Router router = [] {
    Router made(profile->devices, {.exploration_share = 0});
    runtime::apply(*profile, made);
    return made;
  }();
  const auto operation = operation_named(name);
  if (!operation || !router.is_calibrated(*operation, kHost)) return std::nullopt;
  return router.expected_ns(*operation, size, kHost);
}

}  // namespace

advise::HostTime host_time_of_this_machine() {
  return measured_ns;
}

}  // namespace fathom::cli
