#pragma once

#include <string>

#include "random_trace.h"

namespace fathom::trace {

// Threads that launch, streams that run: random spans at small, colliding times, of all kinds; a
// launch may have none, one or several kernels, and a kernel may have no launch.
inline Trace random_gpu_trace(std::mt19937& random) {
  TracePart part;
  const std::int64_t spans = pick(random, 0, 40);
  for (std::int64_t i = 0; i < spans; ++i) {
    SpanRow row;
    const bool on_gpu = pick(random, 0, 2) == 0;
    row.track = on_gpu ? part.track(TrackKind::gpu_stream, 0, pick(random, 1, 2))
                       : part.track(TrackKind::thread, 9, pick(random, 1, 2));
    row.name = part.names.intern(std::string(1, static_cast<char>('a' + pick(random, 0, 3))));
    row.kind = on_gpu ? static_cast<SpanKind>(pick(random, 5, 10))
                      : static_cast<SpanKind>(pick(random, 0, 12));
    row.start_ns = pick(random, 0, 40);
    row.duration_ns = pick(random, 0, 20);
    if (pick(random, 0, 2) > 0) row.correlation = pick(random, 1, 8);
    part.spans.push_back(row);
  }
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), {});
}

}  // namespace fathom::trace
