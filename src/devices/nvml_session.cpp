#include "devices/nvml_session.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace fathom::devices::nvml {
namespace {

constexpr unsigned kWaitMs = 500;
constexpr std::size_t kMostWaiting = 1000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Not now and not later: it is no failure.
bool is_refusal(int result) {
  return result == kNotSupported || result == kFunctionNotFound || result == kNoPermission;
}

}  // namespace

Session::Session(std::shared_ptr<const Library> library) : library_(std::move(library)) {
  const int result = library_->init();
  if (result != kSuccess) throw base::Error("NVML", library_->text_of(result));
}

ErrorWatch::ErrorWatch(std::shared_ptr<Session> session,
                       std::vector<std::pair<Device, std::string>> devices_and_uuids)
    : state_(std::make_shared<State>()) {
  state_->session = std::move(session);
  state_->devices = std::move(devices_and_uuids);
  std::thread([state = state_] { run(*state); }).detach();
}

std::vector<DeviceError> ErrorWatch::take() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->errors, {});
}

ErrorWatch::~ErrorWatch() {
  const std::lock_guard lock(state_->mutex);
  state_->is_over = true;
  state_->ended.notify_all();
}

bool ErrorWatch::is_over(State& state) {
  const std::lock_guard lock(state.mutex);
  return state.is_over;
}

ErrorWatch::Registered ErrorWatch::register_devices(const State& state, EventSet events) {
  const Library& library = state.session->library();
  Registered registered;
  for (const auto& [device, uuid] : state.devices) {
    std::uint64_t supported = 0;
    int result = library.supported_events(device, &supported);
    if (result == kSuccess) {
      if ((supported & kEventXid) == 0) continue;
      result = library.register_events(device, kEventXid, events);
    }
    registered.has_any |= result == kSuccess;
    registered.has_failed |= result != kSuccess && !is_refusal(result);
  }
  return registered;
}

// Waits for half a second at most; whether the driver let it.
bool ErrorWatch::wait_for_error(State& state, EventSet events) {
  EventData event{};
  const int result = state.session->library().wait_for_event(events, &event, kWaitMs);
  if (result == kTimeout) return true;
  if (result != kSuccess) return false;
  if ((event.type & kEventXid) == 0) return true;
  const auto device =
      std::ranges::find(state.devices, event.device, &std::pair<Device, std::string>::first);
  if (device == state.devices.end()) return true;
  const std::lock_guard lock(state.mutex);
  if (state.errors.size() < kMostWaiting) {
    state.errors.push_back({device->second, now_ns(), event.data});
  }
  return true;
}

// Waits until it is over, the driver fails, or devices that it did not register are to be tried
// again; with a new set, because one may be undefined after a failure. Returns whether there is
// anything to try again.
bool ErrorWatch::watch_once(State& state, Backoff& backoff) {
  const Library& library = state.session->library();
  EventSet events = nullptr;
  const int made = library.create_events(&events);
  if (made != kSuccess) {
    backoff.failed();
    return !is_refusal(made);
  }
  const Registered registered = register_devices(state, events);
  if (registered.has_failed) backoff.failed();
  bool works = registered.has_any;
  while (works && !is_over(state) && !(registered.has_failed && backoff.is_due())) {
    works = wait_for_error(state, events);
    if (works && !registered.has_failed) backoff.succeeded();
  }
  library.free_events(events);
  if (!works && !registered.has_failed) backoff.failed();
  return registered.has_any || registered.has_failed;
}

void ErrorWatch::run(State& state) {
  Backoff backoff;
  while (watch_once(state, backoff)) {
    std::unique_lock lock(state.mutex);
    if (state.ended.wait_until(lock, backoff.due(), [&] { return state.is_over; })) return;
  }
}

}  // namespace fathom::devices::nvml
