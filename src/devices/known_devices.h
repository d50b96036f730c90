#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "devices/backend.h"

namespace fathom::devices {

// The devices that the backends of a watcher have told of so far, so that one that vanished is
// known to be lost, and one that came back is the one it was. They are told apart by UUID.
class KnownDevices {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit KnownDevices(std::size_t backends) : of_backend_(backends) {}

  // What a backend told. Where it was not asked for processes, those of its last look still hold.
  void take(std::size_t backend, std::vector<GpuDevice> told, bool has_processes, Time time);
  // The backend as a whole does not work: its devices are lost until it does.
  void lose(std::size_t backend);

  // All of them, numbered; by backend, then in the order in which they were first seen. A device
  // that two backends tell of is listed once, as the first of them tells it.
  std::vector<GpuDevice> list(Time now) const;

 private:
  struct Known {
    GpuDevice device;
    Time answered;
  };
  std::vector<std::vector<Known>> of_backend_;
};

}  // namespace fathom::devices
