#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/framework_names.h"
#include "trace/trace.h"

namespace fathom::analyze {

using trace::kStepName;

// The steps of a run as the host saw them, in order, one per number. Traces of 2021 have them as
// operators, later ones as annotations; what a GPU saw of them is not a step.
std::vector<trace::SpanId> step_spans(const trace::Trace& trace);

// The window of the holistic analysis: with two steps or more, the last is left out, for what it
// launched is usually cut off.
std::optional<std::int64_t> whole_steps_end(const trace::Trace& trace,
                                            const std::vector<trace::SpanId>& steps);

}  // namespace fathom::analyze
