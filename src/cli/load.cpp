#include "cli/load.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/format.h"
#include "cli/inputs.h"
#include "trace/read.h"

namespace fathom::cli {

namespace {
bool was_damaged = false;
}

trace::Trace load(const std::string& path) {
  will_read(path);
  trace::Trace trace = trace::read_trace(path);
  was_damaged |= trace.warnings.count(trace::WarningKind::damaged_packing) > 0;
  for (const trace::Warning& warning : trace.warnings.all()) {
    fmt::print(stderr, "fathom: {}: {}\n", path, describe(warning));
  }
  if (trace.run.dropped_spans.value_or(0) > 0) {
    fmt::print(stderr, "fathom: {}: {} dropped while recording\n", path,
               base::format_plural(static_cast<std::uint64_t>(*trace.run.dropped_spans), "span was",
                                   "spans were"));
  }
  return trace;
}

bool input_was_damaged() {
  return was_damaged;
}

}  // namespace fathom::cli
