#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/backend.h"

// Looks at all backends, each on a thread of its own, so that a driver that hangs stalls nobody
// else.
namespace fathom::devices {

struct BackendStatus {
  std::string name;
  bool is_here = true;                // there is something for it on this machine
  bool is_up = false;                 // its last look succeeded
  bool is_hung = false;               // its last look has not come back for longer than the limit
  std::string problem;                // of its last failed look; empty while all is well
  std::optional<double> age_seconds;  // of its last good look
  double look_seconds = 0;            // how long that look took
  std::uint64_t looks = 0;            // that came back, failed ones too
  double cpu_seconds = 0;             // that its thread took in all
};

struct Devices {
  std::vector<GpuDevice> devices;       // index as listed; a device that vanished stays, as lost
  std::vector<DeviceError> errors;      // new since the last call of latest(), of this watcher
  std::vector<BackendStatus> backends;  // those that there is something for here
};

struct WatcherOptions {
  Wanted wanted;
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds process_interval{2000};  // between looks for programs, which cost most
  std::chrono::milliseconds discovery_interval{30000};
  std::chrono::milliseconds hung_after{5000};
};

class Watcher {
 public:
  Watcher(std::vector<std::unique_ptr<Backend>> backends, const WatcherOptions& options);
  ~Watcher();  // does not wait for a backend that hangs
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // What is known now; never waits for a driver. Devices in an order that does not change while
  // they are there. A device that came back is the one it was. Any thread may call it.
  Devices latest();
  std::vector<BackendStatus> backends() const;  // as in latest(), which hands out the errors
  void set_interval(std::chrono::milliseconds interval);  // from the next look on
  // Waits until every backend has been looked at once since the start, or until the time is over.
  bool wait_for_first_look(std::chrono::milliseconds at_most);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads, one of which may outlive this
};

}  // namespace fathom::devices
