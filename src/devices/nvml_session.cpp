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

void ErrorWatch::run(State& state) {
  const Library& library = state.session->library();
  EventSet events = nullptr;
  if (library.create_events(&events) != kSuccess) return;
  bool has_any = false;
  for (const auto& [device, uuid] : state.devices) {
    std::uint64_t supported = 0;
    if (library.supported_events(device, &supported) != kSuccess) continue;
    if ((supported & kEventXid) == 0) continue;
    has_any = library.register_events(device, kEventXid, events) == kSuccess || has_any;
  }
  if (has_any) wait_for_errors(state, events);
  library.free_events(events);
}

void ErrorWatch::wait_for_errors(State& state, EventSet events) {
  const Library& library = state.session->library();
  while (!state.is_over) {
    EventData event{};
    const int result = library.wait_for_event(events, &event, kWaitMs);
    if (result == kTimeout) continue;
    if (result != kSuccess) return;  // the driver is gone; who looks at the devices finds out why
    if ((event.type & kEventXid) == 0) continue;
    const auto device =
        std::ranges::find(state.devices, event.device, &std::pair<Device, std::string>::first);
    if (device == state.devices.end()) continue;
    const std::lock_guard lock(state.mutex);
    if (state.errors.size() < kMostWaiting) {
      state.errors.push_back({device->second, now_ns(), event.data});
    }
  }
}

}  // namespace fathom::devices::nvml
