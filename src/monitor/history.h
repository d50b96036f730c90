#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fathom/monitor.h"

// Snapshots that are kept: 60 bytes per device and not the 900 of a GpuDevice.
namespace fathom::monitor {

// What does not change from look to look, once for all snapshots.
class DeviceTable {
 public:
  std::size_t id_of(const GpuDevice& device);
  std::size_t size() const { return identities_.size(); }
  const GpuDevice& identity(std::size_t id) const { return identities_[id]; }

 private:
  std::vector<GpuDevice> identities_;  // without reading, state, age and processes
};

struct CompactSnapshot {
  std::int64_t time_ns = 0;
  std::uint32_t trigger = 0;  // place in the history's list
  std::string devices;        // varints: id, state, age in ms, known metrics, their values
};

// Values are kept as finely as reading_fields.h says. Processes are not kept.
class History {
 public:
  enum class WhenFull {
    drop_oldest,
    thin_out,  // every second one goes, and from then on only every second one is kept
  };
  History(std::size_t most, WhenFull when_full) : most_(most), when_full_(when_full) {}

  void add(const Snapshot& snapshot);
  std::size_t size() const { return kept_.size(); }
  std::size_t bytes() const;  // of all that is kept

  Snapshot at(std::size_t place) const;  // 0 is the oldest
  std::vector<Snapshot> last(std::size_t count) const;

 private:
  std::uint32_t trigger_id(const std::string& trigger);
  CompactSnapshot& next_place();

  std::size_t most_;
  WhenFull when_full_;
  DeviceTable table_;
  std::vector<std::string> triggers_;
  std::vector<CompactSnapshot> kept_;
  std::size_t oldest_ = 0;     // of a ring that is full
  std::uint64_t offered_ = 0;  // to a history that thins out
  std::uint64_t stride_ = 1;
};

}  // namespace fathom::monitor
