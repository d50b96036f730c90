#include "fathom/monitor.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "devices/backend.h"
#include "devices/watcher.h"
#include "monitor/config_fields.h"
#include "monitor/core.h"
#include "monitor/event_bus.h"

namespace fathom {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatienceForFirstLook{2};
constexpr int kLateIntervals = 3;  // a snapshot that is older means that something is wrong

std::int64_t unix_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

double thread_cpu_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

// Locks are taken in this order: `mutex`, then those of watcher and bus; no lock is held while
// listeners are called.
struct Monitor::State {
  explicit State(const MonitorConfig& wanted) : config(wanted), core(wanted) {}

  void run();
  void send_events(std::unique_lock<std::mutex>& lock);
  void pace_watcher();
  Snapshot sample(const std::string& trigger);  // with the lock
  // Without the lock, so that no sample waits for long files: what was read once is remembered.
  monitor::SessionFolder::Listing read_session_folder() { return core.sessions().folder().list(); }

  const MonitorConfig config;
  mutable std::mutex mutex;
  std::condition_variable changed;  // there are events to send, the pace changed, or it is to end
  bool is_stopping = false;
  bool has_new_pace = false;
  monitor::Core core;
  monitor::EventBus bus;
  std::shared_ptr<devices::Watcher> watcher;  // while it runs
  std::thread thread;
  SteadyClock::time_point started;
  std::optional<SteadyClock::time_point> sampled;
  double cpu_seconds = 0;
};

Snapshot Monitor::State::sample(const std::string& trigger) {
  if (!watcher) return core.newest();
  sampled = SteadyClock::now();
  devices::Devices latest = watcher->latest();
  // A processor that OpenCL offers is no GPU, and nothing tells what it does.
  std::erase_if(latest.devices, [](const GpuDevice& device) { return device.type == "cpu"; });
  return core.take(unix_now_ns(), std::move(latest), trigger);
}

void Monitor::State::send_events(std::unique_lock<std::mutex>& lock) {
  while (core.has_events()) {
    const std::vector<Event> events = core.take_events();
    lock.unlock();
    if (bus.has_listeners()) {
      for (const Event& event : events) bus.send(event);
    }
    lock.lock();
  }
}

// A session may want samples more often than the monitor.
void Monitor::State::pace_watcher() {
  has_new_pace = true;
  if (watcher) {
    watcher->set_interval(
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(core.tick_ns())));
  }
  changed.notify_all();
}

void Monitor::State::run() {
  pthread_setname_np(pthread_self(), "fathom-monitor");
  std::unique_lock lock(mutex);
  // start() took the first, shortly after the devices were looked at: so what is taken is fresh.
  SteadyClock::time_point due = SteadyClock::now() + std::chrono::nanoseconds(core.tick_ns());
  while (!is_stopping) {
    const auto tick = std::chrono::nanoseconds(core.tick_ns());
    if (SteadyClock::now() >= due) {
      sample("interval");
      due = std::max(due + tick, SteadyClock::now() - tick);
      cpu_seconds = thread_cpu_seconds();
    }
    send_events(lock);
    changed.wait_until(lock, due, [&] { return is_stopping || has_new_pace || core.has_events(); });
    if (std::exchange(has_new_pace, false)) {
      due = std::min(due, SteadyClock::now() + std::chrono::nanoseconds(core.tick_ns()));
    }
  }
  core.stop_all_sessions(unix_now_ns());
  core.add_event("ProfilerStopped", unix_now_ns(), {});
  send_events(lock);
}

Monitor::Monitor(const MonitorConfig& config) {
  const std::string problem = monitor::problem_of(config);
  if (!problem.empty()) throw base::Error("MonitorConfig", problem);
  state_ = std::make_unique<State>(config);
}

Monitor::~Monitor() {
  stop();
}

void Monitor::start() {
  const std::lock_guard lock(state_->mutex);
  if (state_->thread.joinable()) return;
  const MonitorConfig& config = state_->config;
  state_->watcher = std::make_shared<devices::Watcher>(
      devices::backends({.nvidia = config.enable_cuda_profiling,
                         .opencl = config.enable_opencl_profiling,
                         .is_demo = config.demo}),
      monitor::watcher_options(config));
  state_->watcher->wait_for_first_look(kPatienceForFirstLook);
  state_->is_stopping = false;
  state_->started = SteadyClock::now();
  state_->core.add_event("ProfilerStarted", unix_now_ns(), {});
  state_->sample("interval");
  // The thread leaves every signal to the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Monitor::stop() {
  std::thread thread;
  std::shared_ptr<devices::Watcher> watcher;
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
    state_->changed.notify_all();
    thread = std::exchange(state_->thread, {});
    watcher = std::exchange(state_->watcher, {});
  }
  if (thread.joinable()) {
    thread.join();
    return;
  }
  const std::lock_guard lock(state_->mutex);
  state_->core.stop_all_sessions(unix_now_ns());  // of a monitor that was never started
}

const MonitorConfig& Monitor::config() const {
  return state_->config;
}

std::vector<GpuDevice> Monitor::devices() const {
  const std::lock_guard lock(state_->mutex);
  return state_->core.newest().devices;
}

Snapshot Monitor::take_snapshot(const std::string& trigger) {
  const std::lock_guard lock(state_->mutex);
  Snapshot snapshot = state_->sample(trigger);
  state_->changed.notify_all();
  return snapshot;
}

std::vector<Snapshot> Monitor::snapshots(std::size_t count) const {
  const std::lock_guard lock(state_->mutex);
  return state_->core.snapshots(count);
}

std::string Monitor::start_session(const std::string& name, const std::string& description,
                                   const std::optional<MonitorConfig>& config) {
  state_->read_session_folder();
  const std::lock_guard lock(state_->mutex);
  std::string id = state_->core.start_session(name, description, config, unix_now_ns());
  state_->pace_watcher();
  return id;
}

SessionReport Monitor::stop_session(const std::string& id) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->core.sessions().is_running(id)) {
      SessionReport report = state_->core.stop_session(id, unix_now_ns());
      state_->pace_watcher();
      return report;
    }
  }
  return session_report(id);  // it has ended already; or there is none
}

SessionReport Monitor::session_report(const std::string& id) const {
  std::string path;
  {
    const std::lock_guard lock(state_->mutex);
    if (auto report = state_->core.sessions().report_of_running(id)) return std::move(*report);
    path = state_->core.sessions().path_of(id);
  }
  return monitor::read_session(path).report();  // which may take a while
}

std::vector<MonitorSession> Monitor::sessions() const {
  const monitor::SessionFolder::Listing in_folder = state_->read_session_folder();
  const std::lock_guard lock(state_->mutex);
  return state_->core.sessions().list(in_folder);
}

void Monitor::track_inference(double milliseconds, const std::string& session) {
  const std::lock_guard lock(state_->mutex);
  state_->core.track_inference(milliseconds, session, unix_now_ns());
}

InferenceFigures Monitor::inference() const {
  const std::lock_guard lock(state_->mutex);
  return state_->core.inference();
}

std::vector<Alert> Monitor::alerts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->core.alerts();
}

std::uint64_t Monitor::alerts_total(AlertKind kind) const {
  const std::lock_guard lock(state_->mutex);
  return state_->core.alerts_total(kind);
}

std::uint64_t Monitor::sessions_total() const {
  const std::lock_guard lock(state_->mutex);
  return state_->core.sessions().started();
}

int Monitor::subscribe(std::function<void(const Event&)> listener) {
  return state_->bus.subscribe(std::move(listener));
}

void Monitor::unsubscribe(int subscription) {
  state_->bus.unsubscribe(subscription);
}

void Monitor::publish(const Event& event) {
  if (event.name == "session_started") state_->read_session_folder();
  const std::lock_guard lock(state_->mutex);
  Event dated = event;
  if (dated.time_ns == 0) dated.time_ns = unix_now_ns();
  state_->core.handle(dated);
  state_->core.add_event(dated.name, dated.time_ns, dated.fields);
  state_->pace_watcher();
}

Health Monitor::health() const {
  const std::lock_guard lock(state_->mutex);
  const State& state = *state_;
  Health health;
  health.devices = state.core.newest().devices.size();
  const SteadyClock::time_point now = SteadyClock::now();
  const auto seconds = [](SteadyClock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  if (state.sampled) health.last_snapshot_age_seconds = seconds(now - *state.sampled);
  double cpu_seconds = state.cpu_seconds;
  const std::vector<devices::BackendStatus> backends =
      state.watcher ? state.watcher->backends() : state.core.backends();
  for (const devices::BackendStatus& backend : backends) {
    std::string problem = backend.problem;
    if (backend.is_hung) problem = "its driver does not answer";
    if (health.problem.empty() && !problem.empty()) {
      health.problem = backend.name + ": " + problem;
    }
    health.backends.push_back({backend.name, backend.is_up && !backend.is_hung, std::move(problem),
                               backend.age_seconds, backend.look_seconds});
    cpu_seconds += backend.cpu_seconds;
  }
  const bool is_running = state.thread.joinable();
  const double tick = 1e-9 * static_cast<double>(state.core.tick_ns());
  if (!is_running) {
    health.problem = "it is not running";
  } else if (!health.last_snapshot_age_seconds ||
             *health.last_snapshot_age_seconds > kLateIntervals * tick + 1) {
    health.problem = "no sample was taken for longer than three intervals";
  }
  if (health.problem.empty()) health.problem = state.core.sessions().problem();
  health.is_healthy = health.problem.empty();
  const double elapsed = is_running ? seconds(now - state.started) : 0;
  if (elapsed > 0) health.cpu_percent = 100 * cpu_seconds / elapsed;
  return health;
}

}  // namespace fathom
