#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "devices/backoff.h"
#include "devices/nvml_library.h"
#include "fathom/gpu_device.h"

namespace fathom::devices::nvml {

// The library between init and shutdown. The thread that waits for errors has a share in it, so
// that nothing is shut down under a call.
class Session {
 public:
  explicit Session(std::shared_ptr<const Library> library);  // throws base::Error
  ~Session() { library_->shutdown(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Library& library() const { return *library_; }

 private:
  std::shared_ptr<const Library> library_;
};

// Waits on a thread of its own for errors (XIDs) that the driver reports, until this goes. What the
// driver fails to do is tried again, soon at first and later after at most 30 seconds. The thread
// ends by itself, within the time of one wait.
class ErrorWatch {
 public:
  ErrorWatch(std::shared_ptr<Session> session,
             std::vector<std::pair<Device, std::string>> devices_and_uuids);
  ~ErrorWatch();
  ErrorWatch(const ErrorWatch&) = delete;
  ErrorWatch& operator=(const ErrorWatch&) = delete;

  std::vector<DeviceError> take();  // new ones

 private:
  struct State {
    std::shared_ptr<Session> session;
    std::vector<std::pair<Device, std::string>> devices;
    std::mutex mutex;
    std::condition_variable ended;
    bool is_over = false;
    std::vector<DeviceError> errors;
  };
  struct Registered {
    bool has_any = false;
    bool has_failed = false;  // one that could tell errors
  };
  static bool is_over(State& state);
  static Registered register_devices(const State& state, EventSet events);
  static bool wait_for_error(State& state, EventSet events);
  static bool watch_once(State& state, Backoff& backoff);
  static void run(State& state);

  std::shared_ptr<State> state_;
};

}  // namespace fathom::devices::nvml
