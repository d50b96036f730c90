#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/builder.h"

namespace fathom::report {

struct Given {
  std::string name;
  trace::SpanKind kind;
  std::int64_t start;
  std::int64_t duration;
};

// A small trace: host spans on one thread, GPU work on one stream.
inline trace::Trace trace_of(const std::vector<Given>& spans, trace::RunInfo run = {}) {
  trace::TracePart part;
  for (const Given& given : spans) {
    trace::SpanRow row;
    const bool on_gpu = is_gpu_work(given.kind);
    row.track = part.track(on_gpu ? trace::TrackKind::gpu_stream : trace::TrackKind::thread,
                           on_gpu ? 0 : 1, on_gpu);
    row.name = part.names.intern(given.name);
    row.start_ns = given.start;
    row.duration_ns = given.duration;
    row.kind = given.kind;
    part.spans.push_back(row);
  }
  std::vector<trace::TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), std::move(run));
}

}  // namespace fathom::report
