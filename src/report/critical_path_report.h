#pragma once

#include <string>

#include "analyze/critical_path/critical_path.h"
#include "base/json_writer.h"

namespace fathom::report {

// What bounds the run, as bars; what was on the path longest, `top` rows; and the steps.
std::string to_text(const analyze::CriticalPath& path, std::size_t top, std::size_t width,
                    bool leaves_out_a_step = false);

// {"total_ns", "bound_by": {"compute_ns", …}, "operations": […], "steps": […]}, as a value where
// the writer stands. At most `top` operations.
void write_json(base::JsonWriter& json, const analyze::CriticalPath& path, std::size_t top);

}  // namespace fathom::report
