#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

// What the numbered steps of PyTorch begin with: "ProfilerStep#7".
inline constexpr std::string_view kStepName = "ProfilerStep#";

// The steps of a run as the host saw them, in order, one per number. Traces of 2021 have them as
// operators, later ones as annotations; what a GPU saw of them is not a step.
std::vector<trace::SpanId> step_spans(const trace::Trace& trace);

// The window of the holistic analysis: with two steps or more, the last is left out, for what it
// launched is usually cut off.
std::optional<std::int64_t> whole_steps_end(const trace::Trace& trace,
                                            const std::vector<trace::SpanId>& steps);

}  // namespace fathom::analyze
