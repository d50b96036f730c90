#pragma once

#include "base/output.h"
#include "trace/trace.h"

// One function a format; `write_trace` chooses.
namespace fathom::trace {

void write_chrome_json(const Trace& trace, base::Output& out);
void write_perfetto(const Trace& trace, base::Output& out);
// Returns how many spans are its entries.
std::size_t write_profile_json(const Trace& trace, base::Output& out);

}  // namespace fathom::trace
