#pragma once

#include <string_view>

#include "analyze/critical_path/critical_path.h"
#include "analyze/hta/hta_summary.h"
#include "analyze/hta/work_type.h"
#include "analyze/operations/operations.h"

// What time is spent on, as the page names and colours it (`Part` of web/src/summary.ts): "gpu",
// "comm", "transfer", "overhead", "cpu" and "idle". The one place that decides; everything of the
// page that has a colour has it from here.
namespace fathom::report {

std::string_view page_part(analyze::Part part);

// Communication is apart from other kernels; copies, fills and the kernels that a driver makes of
// them are transfers.
std::string_view page_part(analyze::WorkType type);
std::string_view page_part(analyze::KernelClass kernel_class);

// GPU work by its class, of which the name alone tells here; the host's by analyze::part_of. What
// frames the work of others is idle, which is grey: GPU annotations, what never ended, and spans of
// no known kind in a file (`others_are_frames`) that knows kinds.
std::string_view page_part(trace::SpanKind kind, std::string_view name,
                           bool others_are_frames = false);

std::string_view page_part(const analyze::Operation& operation);

// What a GPU waits for.
std::string_view page_part(analyze::Loss loss);

// What an instant of the critical path was spent on.
std::string_view page_part(analyze::Bound bound);

// The part that a scope spends the most of its time on.
std::string_view page_part(const NamedFigures& scope);

}  // namespace fathom::report
