#include "record/cuda/profiler_link.h"

#include "fathom/profiler.h"

namespace fathom::record::cuda {

ScopeRef innermost_scope() noexcept {
  return profiler().innermost_scope();
}

std::int64_t profiler_now_ns() noexcept {
  return now_ns();
}

Sink profiler_sink() {
  return {[](const GpuActivity& activity) { profiler().record(activity); },
          [](const MemoryRecord& memory) { profiler().record(memory); }};
}

}  // namespace fathom::record::cuda
