#pragma once

#include <random>

#include "trace/builder.h"

namespace fathom::trace {

inline std::int64_t pick(std::mt19937& random, std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution<std::int64_t>(from, to)(random);
}

// A few tracks of spans at small, colliding times: nested, touching, overlapping, equal and empty.
inline Trace random_small_trace(std::mt19937& random) {
  TracePart part;
  const std::int64_t tracks = pick(random, 1, 3);
  const std::int64_t spans = pick(random, 0, 25);
  for (std::int64_t i = 0; i < spans; ++i) {
    SpanRow row;
    row.track = part.track(TrackKind::thread, 1, pick(random, 1, tracks));
    row.name = part.names.intern(std::string(1, static_cast<char>('a' + pick(random, 0, 4))));
    row.kind = static_cast<SpanKind>(pick(random, 0, 11));
    row.start_ns = pick(random, 0, 30);
    row.duration_ns = pick(random, 0, 12);
    part.spans.push_back(row);
  }
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), {});
}

}  // namespace fathom::trace
