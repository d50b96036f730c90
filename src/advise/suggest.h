#pragma once

#include "advise/host_operation.h"
#include "advise/suggestion.h"
#include "analyze/critical_path/dependencies.h"
#include "analyze/efficiency/peaks.h"
#include "analyze/run/wall.h"
#include "trace/trace.h"

namespace fathom::advise {

// What to change in a run, and what it would bring.
//
// Every rule looks at the trace and proposes changes; each change is replayed on the dependency
// graph (replay.h). Gains are given only where the replay without any change takes as long as the
// run did, within 3 %; up to 10 % they are rough, and say so. They are attributed once: the change
// that brings most is taken first, and what the next brings is what it adds to those before it, and
// never more than it brings alone. So gains add up, and each holds by itself; but for those of 3 %
// and more that show only once the others are made: they come after them and say so. Those under
// 3 % are left out, unless `all`.
//
// A profile of operations without GPU work has bounds instead (rule_operations.cpp).
// `host_time` says what operations would take on the host, where that was measured; `peaks`, what
// the GPU can do, where the user knows better than the table of peaks.cpp.
Suggestions suggest(const trace::Trace& trace, bool all = false, const HostTime& host_time = {},
                    const analyze::DevicePeaks& peaks = {});

// The same where the dependencies of the trace and its run (wall.h) are there already. Set-up is
// outside of the run: it is replayed as it was, and no change saves any of it.
Suggestions suggest(const trace::Trace& trace, const analyze::Dependencies& on,
                    const analyze::Wall& wall, bool all = false, const HostTime& host_time = {},
                    const analyze::DevicePeaks& peaks = {});

// Of operations of which nothing else is known.
Suggestions suggest(const std::vector<NamedFigures>& operations, bool all = false);

}  // namespace fathom::advise
