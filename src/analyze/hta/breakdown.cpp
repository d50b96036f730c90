#include "analyze/hta/breakdown.h"

#include <algorithm>

namespace fathom::analyze {
namespace {

constexpr unsigned kCompute = 1;
constexpr unsigned kCommunication = 2;
constexpr unsigned kMemory = 4;

// Work arrives by start, so for each type the latest end so far says until when it runs.
class Sweep {
 public:
  explicit Sweep(std::int64_t begin_ns) : now_(begin_ns), ends_{begin_ns, begin_ns, begin_ns} {}

  void add(const WorkRow& row, BusyTimes& times) {
    advance(row.start_ns, times);
    std::int64_t& end = ends_[static_cast<std::size_t>(row.type)];
    end = std::max(end, row.end_ns);
  }

  // Accounts for the time up to `to`, in which nothing new starts.
  void advance(std::int64_t to, BusyTimes& times) {
    while (now_ < to) {
      unsigned running = 0;
      std::int64_t next = to;
      for (unsigned type = 0; type < ends_.size(); ++type) {
        if (ends_[type] <= now_) continue;
        running |= 1U << type;
        next = std::min(next, ends_[type]);
      }
      times.ns[running] += next - now_;
      now_ = next;
    }
  }

 private:
  std::int64_t now_;
  std::array<std::int64_t, 3> ends_;
};

std::string type_text(unsigned types) {
  std::string text;
  for (unsigned type = 0; type < kWorkTypeNames.size(); ++type) {
    if ((types & 1U << type) == 0) continue;
    if (!text.empty()) text += " overlapping ";
    text += kWorkTypeNames[type];
  }
  return text;
}

}  // namespace

BusyTimes busy_times(const GpuWork& work, const DeviceWork& device) {
  BusyTimes times;
  if (device.by_start.empty()) return times;
  times.begin_ns = work.rows[device.by_start.front()].start_ns;
  times.end_ns = times.begin_ns;
  Sweep sweep(times.begin_ns);
  for (const std::uint32_t at : device.by_start) {
    sweep.add(work.rows[at], times);
    times.end_ns = std::max(times.end_ns, work.rows[at].end_ns);
  }
  sweep.advance(times.end_ns, times);
  return times;
}

Temporal temporal(const BusyTimes& times) {
  Temporal found;
  found.total_ns = times.total_ns();
  found.idle_ns = times.ns[0];
  for (unsigned types = 1; types < times.ns.size(); ++types) {
    if ((types & kCompute) != 0) {
      found.compute_ns += times.ns[types];
    } else if ((types & kCommunication) != 0) {
      found.communication_ns += times.ns[types];
    }
  }
  found.memory_ns = times.ns[kMemory];
  return found;
}

std::vector<KernelTypeTime> kernel_types(const BusyTimes& times) {
  const auto busy = static_cast<double>(times.total_ns() - times.ns[0]);
  std::vector<KernelTypeTime> found;
  for (unsigned types = 1; types < times.ns.size(); ++types) {
    if (times.ns[types] == 0) continue;
    found.push_back(
        {type_text(types), times.ns[types], static_cast<double>(times.ns[types]) / busy * 100});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.sum_ns > b.sum_ns; });
  return found;
}

std::optional<double> comm_comp_overlap_pct(const BusyTimes& times) {
  std::int64_t communication = 0;
  std::int64_t both = 0;
  for (unsigned types = 1; types < times.ns.size(); ++types) {
    if ((types & kCommunication) == 0) continue;
    communication += times.ns[types];
    if ((types & kCompute) != 0) both += times.ns[types];
  }
  if (communication == 0) return std::nullopt;
  return static_cast<double>(both) / static_cast<double>(communication) * 100;
}

}  // namespace fathom::analyze
