#include "record/cuda/launch_links.h"

namespace fathom::record::cuda {

void LaunchLinks::note(std::uint32_t correlation, const LaunchOrigin& launch) {
  const std::lock_guard lock(lock_of(correlation));
  slot_of(correlation) = {correlation, launch};
}

void LaunchLinks::note_scope(std::uint32_t correlation, ScopeRef scope) {
  const std::lock_guard lock(lock_of(correlation));
  Slot& slot = slot_of(correlation);
  if (slot.correlation != correlation) slot = {correlation, {}};
  slot.launch.scope = scope;
}

LaunchOrigin LaunchLinks::find(std::uint32_t correlation) {
  const std::lock_guard lock(lock_of(correlation));
  const Slot& slot = slot_of(correlation);
  return slot.correlation == correlation ? slot.launch : LaunchOrigin{};
}

}  // namespace fathom::record::cuda
