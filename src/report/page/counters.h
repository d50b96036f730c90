#pragma once

#include <cstdint>

#include "analyze/hta/gpu_work.h"
#include "base/json_writer.h"
#include "trace/trace.h"

namespace fathom::report {

// What changes over time, as [{name, unit, times_ns (from begin_ns), values}, …]: memory held on
// each GPU, work waiting for each GPU, and the counters of the trace. A value holds until the next
// time. Where there are more points than a screen is wide, some that follow each other stand
// together: `low` and `high` are then their least and most, `values` their mean over time.
void write_counters(base::JsonWriter& json, const trace::Trace& trace, const analyze::GpuWork& work,
                    std::int64_t begin_ns);

}  // namespace fathom::report
