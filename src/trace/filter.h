#pragma once

#include <functional>

#include "trace/trace.h"

namespace fathom::trace {

// The same trace with only those spans that `keep` says yes to; everything else stays. A span whose
// parent is gone gets the next one around it.
void keep_spans(Trace& trace, const std::function<bool(SpanId)>& keep);

}  // namespace fathom::trace
