#pragma once

#include <string>

#include "analyze/run/timeline_stats.h"
#include "trace/trace.h"

namespace fathom::report {

// How long host and GPU were at work, and each track, at most `top` of them, in `width` columns.
std::string to_text(const analyze::TimelineStats& stats, const trace::Trace& trace,
                    const std::string& source, std::size_t top, std::size_t width);

// {total_time_ns, cpu_active_time_ns, gpu_active_time_ns, overlap_time_ns, tracks: […]}.
std::string to_json(const analyze::TimelineStats& stats, const trace::Trace& trace);

}  // namespace fathom::report
