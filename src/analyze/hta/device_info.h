#pragma once

#include "trace/trace.h"

namespace fathom::analyze {

// What the source says of a GPU, by the number that its work has. Some sources number the GPUs of
// their events and of their list of devices differently: the first then stands for all. Null where
// the source lists none.
const trace::DeviceInfo* device_info(const trace::Trace& trace, std::optional<std::int64_t> device);

}  // namespace fathom::analyze
