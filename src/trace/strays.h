#pragma once

#include "trace/trace.h"

namespace fathom::trace {

// Takes out and counts (WarningKind::stray_time) the events that stand alone, far from all others:
// at time 0 or at a garbage time, as recorders write what they never got a time for. One of them
// would turn a trace of a second into one of days.
//
// Far is more than an hour, and more than a thousand times as long as the middle eight tenths of
// the spans take. More than a tenth of the spans (and more than one) are no strays, whatever their
// time.
void set_aside_strays(Trace& trace);

// Takes out and counts (WarningKind::impossible_bytes) copies' bytes and memory events of more than
// 4 TB: no machine has them, and a sum of a few would be no number any more.
void set_aside_impossible_bytes(Trace& trace);

// Takes out and counts (WarningKind::bad_number) spans so long that the sum of all is no number any
// more, which is 146 years; and the time of the beginning, where no 64 bits hold it together with
// that of the spans.
void set_aside_impossible_times(Trace& trace);

}  // namespace fathom::trace
