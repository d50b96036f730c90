#include "analyze/hta/idle.h"

#include <algorithm>

namespace fathom::analyze {
namespace {

// Takes work by start, and remembers until when the GPU was busy.
class GapSweep {
 public:
  explicit GapSweep(const trace::Trace& trace) : spans_(trace.spans) {}

  void add(const WorkRow& row) {
    if (row.start_ns > busy_until_ && !is_first_) count(row);
    busy_until_ = is_first_ ? row.end_ns : std::max(busy_until_, row.end_ns);
    is_first_ = false;
  }

  const IdleCauses& causes() const { return causes_; }

 private:
  void count(const WorkRow& row) {
    const std::int64_t gap = row.start_ns - busy_until_;
    const bool came_late =
        row.launch != trace::kNoSpan && spans_.start_ns[row.launch] > busy_until_;
    if (came_late) {
      causes_.host_wait_ns += gap;
      ++causes_.host_waits;
    } else if (gap < kKernelWaitBelowNs) {
      causes_.kernel_wait_ns += gap;
      ++causes_.kernel_waits;
    } else {
      causes_.other_ns += gap;
      ++causes_.others;
    }
  }

  const trace::Spans& spans_;
  IdleCauses causes_;
  std::int64_t busy_until_ = 0;
  bool is_first_ = true;
};

}  // namespace

std::vector<StreamIdle> idle_by_stream(const trace::Trace& trace, const GpuWork& work,
                                       const DeviceWork& device) {
  std::vector<StreamIdle> found;
  for (const GpuStream& stream : work.of(device)) {
    GapSweep sweep(trace);
    for (const WorkRow& row : work.of(stream)) sweep.add(row);
    found.push_back({stream.device, stream.stream, sweep.causes()});
  }
  return found;
}

IdleCauses idle_of_device(const trace::Trace& trace, const GpuWork& work,
                          const DeviceWork& device) {
  GapSweep sweep(trace);
  for (const std::uint32_t at : device.by_start) sweep.add(work.rows[at]);
  return sweep.causes();
}

}  // namespace fathom::analyze
