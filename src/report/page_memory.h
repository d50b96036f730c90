#pragma once

#include "base/json_writer.h"
#include "trace/trace.h"

namespace fathom::report {

// Writes the memory of the run over time, as the page's Memory view takes it; null where the trace
// has nothing about memory. Times are from `begin_ns`.
void write_memory(base::JsonWriter& json, const trace::Trace& trace, std::int64_t begin_ns);

}  // namespace fathom::report
