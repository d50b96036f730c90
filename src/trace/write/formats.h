#pragma once

#include "trace/trace.h"
#include "trace/write/output.h"

// One function a format; `write_trace` chooses.
namespace fathom::trace {

void write_chrome_json(const Trace& trace, Output& out);
void write_perfetto(const Trace& trace, Output& out);
void write_profile_json(const Trace& trace, Output& out);

}  // namespace fathom::trace
