#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/hta/work_type.h"
#include "trace/trace.h"

namespace fathom::analyze {

// A kernel, copy or fill. Synchronisation records are not work.
struct WorkRow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  trace::NameId name = 0;
  trace::SpanId span = trace::kNoSpan;
  trace::SpanId launch =
      trace::kNoSpan;  // the runtime call of the same correlation, if it is there
  WorkType type = WorkType::compute;
  KernelClass kernel_class = KernelClass::other;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

struct GpuStream {
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  trace::TrackId track = 0;
  std::size_t first = 0;  // its rows are [first, first + count), by start
  std::size_t count = 0;
};

// What one GPU did.
struct DeviceWork {
  std::optional<std::int64_t> device;
  std::size_t first_stream = 0;
  std::size_t stream_count = 0;
  std::vector<std::uint32_t> by_start;  // its rows, of all its streams
};

// The GPU work of a trace, by device, stream and start: what every analysis of GPUs goes over.
struct GpuWork {
  std::vector<WorkRow> rows;
  std::vector<GpuStream> streams;
  std::vector<DeviceWork> devices;
  std::optional<std::int64_t> launched_before_ns;  // the window's end, where there is one

  std::span<const WorkRow> of(const GpuStream& stream) const {
    return std::span(rows).subspan(stream.first, stream.count);
  }
  std::span<const GpuStream> of(const DeviceWork& device) const {
    return std::span(streams).subspan(device.first_stream, device.stream_count);
  }
};

// All work, or that which was launched before a time. Work whose launch is unknown counts as
// launched when it started. One launch may have much work (a replayed graph). Where several calls
// share a correlation, the last that began before the work did is its launch.
GpuWork gpu_work(const trace::Trace& trace,
                 std::optional<std::int64_t> launched_before_ns = std::nullopt);

// Of all the work of a trace, that which was launched before a time.
GpuWork launched_before(const trace::Trace& trace, const GpuWork& all, std::int64_t time_ns);

}  // namespace fathom::analyze
