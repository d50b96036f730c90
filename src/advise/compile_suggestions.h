#pragma once

#include <vector>

#include "advise/suggestion.h"
#include "analyze/compile/compile_findings.h"

namespace fathom::advise {

// What the logs of torch.compile say about how to change the program. Nothing in a trace tells what
// that would save, so that none has a gain; they come behind those of the trace. One about time to
// compile is medium where that is 20 % of the run, else low.
std::vector<Suggestion> compile_suggestions(const analyze::CompileFindings& found, double run_ns);

}  // namespace fathom::advise
