#include "analyze/hta/device_info.h"

#include <algorithm>

namespace fathom::analyze {

const trace::DeviceInfo* device_info(const trace::Trace& trace,
                                     std::optional<std::int64_t> device) {
  const std::vector<trace::DeviceInfo>& known = trace.run.devices;
  if (known.empty()) return nullptr;
  const auto at =
      std::ranges::find_if(known, [&](const trace::DeviceInfo& info) { return info.id == device; });
  return at == known.end() ? &known.front() : &*at;
}

}  // namespace fathom::analyze
