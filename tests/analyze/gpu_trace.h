#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/builder.h"

namespace fathom::analyze {

// A trace made by hand, in ns: calls on a host thread, work on streams of GPUs.
class GpuTrace {
 public:
  GpuTrace& host(trace::SpanKind kind, const std::string& name, std::int64_t start,
                 std::int64_t duration, std::int64_t correlation = trace::kNoCorrelation) {
    return add(part_.track(trace::TrackKind::thread, 1, 1), kind, name, start, duration,
               correlation);
  }

  // A call and the work that it launches.
  GpuTrace& launch(std::int64_t call_start, std::int64_t call_duration, const std::string& name,
                   std::int64_t start, std::int64_t duration, std::int64_t stream = 7,
                   trace::SpanKind kind = trace::SpanKind::kernel, std::int64_t device = 0) {
    const std::int64_t correlation = ++correlation_;
    host(trace::SpanKind::runtime_call, "cudaLaunchKernel", call_start, call_duration, correlation);
    return work(name, start, duration, stream, kind, correlation, device);
  }

  GpuTrace& work(const std::string& name, std::int64_t start, std::int64_t duration,
                 std::int64_t stream = 7, trace::SpanKind kind = trace::SpanKind::kernel,
                 std::int64_t correlation = trace::kNoCorrelation, std::int64_t device = 0) {
    const trace::TrackId track = part_.track(trace::TrackKind::gpu_stream, device, stream);
    part_.tracks[track].device = device;
    part_.tracks[track].stream = stream;
    return add(track, kind, name, start, duration, correlation);
  }

  GpuTrace& bytes(std::int64_t moved) {  // by the last work
    part_.bytes.push_back({static_cast<trace::SpanId>(part_.spans.size() - 1), moved});
    return *this;
  }

  trace::Trace take(trace::RunInfo run = {}) {
    std::vector<trace::TracePart> parts;
    parts.push_back(std::move(part_));
    return assemble(std::move(parts), std::move(run));
  }

 private:
  GpuTrace& add(trace::TrackId track, trace::SpanKind kind, const std::string& name,
                std::int64_t start, std::int64_t duration, std::int64_t correlation) {
    trace::SpanRow row;
    row.track = track;
    row.kind = kind;
    row.name = part_.names.intern(name);
    row.start_ns = start;
    row.duration_ns = duration;
    row.correlation = correlation;
    part_.spans.push_back(row);
    return *this;
  }

  trace::TracePart part_;
  std::int64_t correlation_ = 1000;
};

}  // namespace fathom::analyze
