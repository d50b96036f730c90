#pragma once

#include <cstdint>

#include "analyze/hta/gpu_work.h"
#include "base/json_writer.h"
#include "trace/trace.h"

namespace fathom::report {

// What changes over time, as [{name, unit, times_ns (from begin_ns), values}, …]: memory held on
// each GPU, work waiting for each GPU, and the counters of the trace. Where there are more points
// than a screen is wide, the highest of each stretch stands for it.
void write_counters(base::JsonWriter& json, const trace::Trace& trace, const analyze::GpuWork& work,
                    std::int64_t begin_ns);

}  // namespace fathom::report
