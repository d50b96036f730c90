#pragma once

#include <memory>
#include <string_view>

#include "trace/trace.h"

namespace fathom::trace {

// Reads the track events of a Perfetto protobuf trace: our own run files, and those of the Perfetto
// SDK and Chrome. `bytes` is the whole file; `owner` keeps it alive for Trace::args_at. What is
// damaged is skipped and counted; the Trace is empty where there was nothing to read.
Trace read_perfetto(std::string_view bytes, std::shared_ptr<const void> owner);

}  // namespace fathom::trace
