#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/activities.h"
#include "profiler/run_file.h"

namespace fathom::detail {

// Writes what recorders tell into a run file: a track for each queue of a device, one beside each
// thread for its calls of the GPU runtime, and a counter of the memory in use on each device.
class ActivityWriter {
 public:
  ActivityWriter(RunFile& file, std::uint32_t sequence, std::uint64_t process_track)
      : file_(file), sequence_(sequence), process_track_(process_track) {}

  void write(const ActivityLog::Content& content);

 private:
  // Slices of one track nest, and activities may overlap: such go to further lanes.
  struct Lane {
    std::uint64_t track = 0;
    std::int64_t end_ns = 0;
  };
  struct MemoryTrack {
    std::uint64_t track = 0;
    std::int64_t in_use = 0;
  };

  void write(const GpuActivity& activity);
  void write(const MemoryRecord& record);
  std::uint64_t lane_for(const GpuActivity& activity);
  std::uint64_t new_track(const std::string& name, bool counter);

  RunFile& file_;
  const std::uint32_t sequence_;
  const std::uint64_t process_track_;
  std::uint64_t tracks_ = 0;
  std::map<std::string, std::vector<Lane>> lanes_;  // by the name of the track
  std::map<std::int32_t, MemoryTrack> memory_;      // by device
};

}  // namespace fathom::detail
