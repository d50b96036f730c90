#include "devices/watcher.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "devices/known_devices.h"

namespace fathom::devices {
namespace {

using Clock = std::chrono::steady_clock;

// A destructor waits so long for a look that is under way.
constexpr std::chrono::milliseconds kPatienceAtEnd{1000};
constexpr std::size_t kMostErrors = 10'000;  // that wait to be asked for

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double cpu_seconds_of_this_thread() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

struct Watcher::State {
  struct Slot {
    BackendStatus status;
    std::optional<Clock::time_point> look_began;  // of the look that is under way
    std::optional<Clock::time_point> looked;      // when the last good look came back
    bool has_ended = false;
  };

  State(const std::vector<std::unique_ptr<Backend>>& backends, const WatcherOptions& how)
      : options(how), known(backends.size()), slots(backends.size()) {
    for (std::size_t i = 0; i < backends.size(); ++i) slots[i].status.name = backends[i]->name();
  }

  bool is_hung(const Slot& slot, Clock::time_point now) const {
    return slot.look_began && now - *slot.look_began > options.hung_after;
  }

  std::vector<BackendStatus> backends(Clock::time_point now) const;
  void watch(std::size_t index, Backend& backend);
  void look_once(std::size_t index, Backend& backend, const Wanted& wanted, bool discover);

  const WatcherOptions options;
  std::chrono::milliseconds interval = options.interval;
  mutable std::mutex mutex;
  std::condition_variable changed;  // a look came back, a thread ended, or all is to end
  bool is_stopping = false;
  KnownDevices known;
  std::vector<DeviceError> errors;
  std::map<std::string, DeviceError> last_errors;  // by UUID
  std::vector<Slot> slots;
};

std::vector<BackendStatus> Watcher::State::backends(Clock::time_point now) const {
  std::vector<BackendStatus> all;
  for (const Slot& slot : slots) {
    if (!slot.status.is_here) continue;
    all.push_back(slot.status);
    all.back().is_hung = is_hung(slot, now);
    if (slot.looked) all.back().age_seconds = seconds(now - *slot.looked);
  }
  return all;
}

// One look, without the lock while the backend is at work.
void Watcher::State::look_once(std::size_t index, Backend& backend, const Wanted& wanted,
                               bool discover) {
  const Clock::time_point began = Clock::now();
  {
    const std::lock_guard lock(mutex);
    slots[index].look_began = began;
  }
  Look look;
  std::string problem;
  try {
    look = backend.look(wanted, discover);
  } catch (const std::exception& error) {
    problem = error.what();
    if (problem.empty()) problem = "failed without saying why";
  }
  const std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  Slot& slot = slots[index];
  slot.look_began.reset();
  ++slot.status.looks;
  slot.status.cpu_seconds = cpu_seconds_of_this_thread();
  slot.status.is_up = problem.empty();
  slot.status.is_here = look.is_here;
  slot.status.name = backend.name();  // which may be another that does the same
  if (problem.empty()) {
    known.take(index, std::move(look.devices), wanted.processes, now);
    slot.looked = now;
    slot.status.look_seconds = seconds(now - began);
  } else {
    known.lose(index);
  }
  slot.status.problem = std::move(problem);
  for (const DeviceError& error : look.errors) last_errors[error.uuid] = error;
  const std::size_t room = kMostErrors - std::min(kMostErrors, errors.size());
  look.errors.resize(std::min(room, look.errors.size()));
  std::ranges::move(look.errors, std::back_inserter(errors));
}

void Watcher::State::watch(std::size_t index, Backend& backend) {
  Clock::time_point due = Clock::now();
  Clock::time_point discovery_due = due;
  Clock::time_point processes_due = due;
  while (true) {
    const Clock::time_point now = Clock::now();
    const bool discover = now >= discovery_due;
    if (discover) discovery_due = now + options.discovery_interval;
    Wanted wanted = options.wanted;
    wanted.processes = wanted.processes && now >= processes_due;
    if (wanted.processes) processes_due = now + options.process_interval;
    look_once(index, backend, wanted, discover);

    std::unique_lock lock(mutex);
    if (!slots[index].status.is_up) discovery_due = processes_due = now;
    changed.notify_all();
    // From the last due time, so that the rate is kept; but looks that were missed stay missed.
    // Where there is nothing to look at, only a discovery can change that.
    const Clock::time_point looked_at = due;
    const bool is_here = slots[index].status.is_here;
    do {
      due = std::max(is_here ? looked_at + interval : discovery_due, Clock::now());
      const auto was = interval;
      changed.wait_until(lock, due, [&] { return is_stopping || interval != was; });
    } while (!is_stopping && Clock::now() < due);
    if (is_stopping) return;
  }
}

Watcher::Watcher(std::vector<std::unique_ptr<Backend>> backends, const WatcherOptions& options)
    : state_(std::make_shared<State>(backends, options)) {
  // The threads leave every signal to the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    std::thread([state = state_, i, backend = std::move(backends[i])]() mutable {
      state->watch(i, *backend);
      backend.reset();
      const std::lock_guard lock(state->mutex);
      state->slots[i].has_ended = true;
      state->changed.notify_all();
    }).detach();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watcher::~Watcher() {
  std::unique_lock lock(state_->mutex);
  state_->is_stopping = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatienceAtEnd, [&] {
    const Clock::time_point now = Clock::now();
    return std::ranges::all_of(state_->slots, [&](const State::Slot& slot) {
      return slot.has_ended || state_->is_hung(slot, now);
    });
  });
}

Devices Watcher::latest() {
  const std::lock_guard lock(state_->mutex);
  const Clock::time_point now = Clock::now();
  Devices all;
  all.devices = state_->known.list(now);
  for (GpuDevice& device : all.devices) {
    const auto error = state_->last_errors.find(device.uuid);
    if (error != state_->last_errors.end()) device.last_error = error->second;
  }
  all.errors = std::exchange(state_->errors, {});
  all.backends = state_->backends(now);
  return all;
}

std::vector<BackendStatus> Watcher::backends() const {
  const std::lock_guard lock(state_->mutex);
  return state_->backends(Clock::now());
}

void Watcher::set_interval(std::chrono::milliseconds interval) {
  const std::lock_guard lock(state_->mutex);
  state_->interval = interval;
  state_->changed.notify_all();
}

bool Watcher::wait_for_first_look(std::chrono::milliseconds at_most) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, at_most, [&] {
    return std::ranges::all_of(state_->slots,
                               [](const State::Slot& slot) { return slot.status.looks > 0; });
  });
}

}  // namespace fathom::devices
