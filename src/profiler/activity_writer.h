#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/activities.h"
#include "profiler/live_file.h"
#include "profiler/packet_bytes.h"
#include "profiler/run_file.h"

namespace fathom::detail {

// Writes what recorders tell into a run file: a track for each queue of a device, a lane of each
// thread's track for its calls of the GPU runtime, a counter of the memory in use on each device.
// Texts are written once and referred to by number: a program can do a million things a second.
class ActivityWriter {
 public:
  ActivityWriter(RunFile& file, std::uint32_t sequence, std::uint64_t process_track);
  // Goes on where another has ended: with what it saved, for the process that it wrote of.
  ActivityWriter(RunFile& file, std::uint32_t sequence, std::uint64_t process_track,
                 std::int64_t pid, const LivePass& saved);

  void write(const ActivityLog::Stream& stream);
  void write(const GpuActivity& activity);
  void write(const MemoryRecord& record);
  void write(const DeviceRecord& device);
  void save(LivePass& into) const;

 private:
  // Slices of one track nest, and activities may overlap: such go to further lanes.
  struct Lane {
    std::uint64_t uuid = 0;
    std::int64_t end_ns = 0;
  };
  struct Track {
    std::vector<Lane> lanes;
  };
  struct MemoryTrack {
    std::uint64_t counter = 0;
    std::int64_t in_use = 0;
  };

  void start();
  std::uint64_t lane_for(const GpuActivity& activity);
  std::uint64_t new_lane(const GpuActivity& activity, std::size_t lane);
  std::uint64_t name_number(Name name);
  std::uint64_t size_number(const LaunchSize& size, bool local);
  std::uint64_t text_number(const std::string& text);
  MemoryTrack& memory_of(std::int32_t device);
  std::uint64_t calls_of(std::int64_t thread);
  void add_details(PacketBytes& event, const GpuActivity& activity);

  RunFile& file_;
  const std::uint32_t sequence_;
  const std::uint64_t process_track_;
  const std::int64_t pid_;
  bool started_ = false;
  // When the last activity of another writer ended, whose lanes are not known here.
  std::int64_t others_end_ns_ = INT64_MIN;
  std::int64_t last_end_ns_ = INT64_MIN;
  std::vector<bool> names_;                               // known to the sequence
  std::unordered_map<std::string, std::uint64_t> texts_;  // values of annotations
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::uint64_t last_key_ = 0;
  Track* last_track_ = nullptr;
  LaunchSize last_size_;
  std::array<std::uint64_t, 2> last_size_numbers_ = {};
  std::map<std::int32_t, MemoryTrack> memory_;  // by device
};

}  // namespace fathom::detail
