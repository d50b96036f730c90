#pragma once

#include "trace/trace.h"

namespace fathom::analyze {

// Which spans are the host's own: what threads did. Left out are GPU work wherever it stands, all
// else on GPU streams (annotations, synchronisation), what never ended, and spans of no known kind
// where the trace has others, for those are the profiler's frames around everything.
class HostSpans {
 public:
  explicit HostSpans(const trace::Trace& trace);

  bool contains(trace::SpanId id) const;

 private:
  const trace::Trace& trace_;
  bool kinds_are_known_ = false;
};

}  // namespace fathom::analyze
