#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/error.h"
#include "trace/read/snapshot/snapshot.h"

// Any bytes: no crash, and totals that follow from the events.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const fathom::trace::Trace trace =
        fathom::trace::read_snapshot(fathom::trace::Input::from_bytes(std::move(bytes)));
    for (const fathom::trace::MemoryEvent& event : trace.memory) {
      if (!event.address || !event.total_allocated) std::abort();
      if (event.site >= trace.names.size()) std::abort();
    }
    for (fathom::trace::SpanId id = 0; id < trace.spans.size(); ++id) {
      if (trace.spans.duration_ns[id] < 0) std::abort();
    }
  } catch (const fathom::base::Error&) {
    // What is no snapshot is refused.
  }
  return 0;
}
