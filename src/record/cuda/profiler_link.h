#pragma once

#include <cstdint>

#include "fathom/activity.h"
#include "record/cuda/record_reader.h"

// All that the injection wants of the profiler library.
namespace fathom::record::cuda {

ScopeRef innermost_scope() noexcept;  // of the calling thread
std::int64_t profiler_now_ns() noexcept;
Sink profiler_sink();

}  // namespace fathom::record::cuda
