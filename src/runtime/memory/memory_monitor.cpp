#include "fathom/memory_monitor.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "fathom/figures.h"
#include "runtime/memory/leak_window.h"

namespace fathom::runtime {

struct Watched {
  MemorySource source;
  LeakWindow leak;
  SourceStatistics statistics;
};

}  // namespace fathom::runtime

namespace fathom {
namespace {

using runtime::Watched;

double percent_of(const MemoryLevel& level) {
  if (level.total_bytes <= 0) return 0;
  return 100.0 * static_cast<double>(level.used_bytes) / static_cast<double>(level.total_bytes);
}

// A level is entered where it begins and left `hysteresis` points below.
Pressure next_pressure(Pressure before, double percent, const MemoryMonitorOptions& options) {
  const std::array<double, 3> begins = {options.moderate_percent, options.high_percent,
                                        options.critical_percent};
  int now = 0;
  for (int i = 0; i < 3; ++i) {
    const bool was_there = static_cast<int>(before) > i;
    const double begin =
        begins[static_cast<std::size_t>(i)] - (was_there ? options.hysteresis_percent : 0);
    if (percent >= begin) now = i + 1;
  }
  return static_cast<Pressure>(now);
}

}  // namespace

std::string_view name_of(Pressure pressure) {
  constexpr std::array<std::string_view, 4> kNames = {"low", "moderate", "high", "critical"};
  return kNames[static_cast<std::size_t>(pressure)];
}

struct MemoryMonitor::State {
  std::optional<MemoryLevel> ask(Watched& watched);  // and count
  void judge(Watched& watched, double seconds);
  std::size_t relieve(const std::function<bool()>& is_enough, std::size_t wanted);
  bool would_fit(double bytes, std::string_view source);

  MemoryMonitorOptions options;
  // Looking and cleaning up, one thread at a time; callbacks may come back to it.
  mutable std::recursive_mutex mutex;
  bool is_cleaning = false;
  std::vector<Watched> sources;
  std::vector<std::pair<int, CleanUp>> clean_ups;  // by priority
  std::vector<std::function<void(const PressureEvent&)>> listeners;
  MonitorStatistics counts;

  std::mutex thread_mutex;
  std::condition_variable wakes;
  bool stops = false;
  std::thread thread;
};

std::optional<MemoryLevel> MemoryMonitor::State::ask(Watched& watched) {
  watched.statistics.level = watched.source.level();
  ++watched.statistics.looks;
  if (const auto& level = watched.statistics.level) {
    watched.statistics.peak_bytes = std::max(watched.statistics.peak_bytes, level->used_bytes);
  }
  return watched.statistics.level;
}

// Calls clean-ups until it is enough. One that fails is left out.
std::size_t MemoryMonitor::State::relieve(const std::function<bool()>& is_enough,
                                          std::size_t wanted) {
  if (is_cleaning) return 0;
  is_cleaning = true;
  std::size_t freed = 0;
  for (const auto& [priority, clean_up] : clean_ups) {
    if (is_enough()) break;
    try {
      const std::size_t more = clean_up(wanted - std::min(wanted, freed));
      freed += more;
      ++counts.clean_ups;
      counts.freed_bytes += more;
    } catch (...) {
      ++counts.clean_ups;
    }
  }
  is_cleaning = false;
  return freed;
}

void MemoryMonitor::State::judge(Watched& watched, double seconds) {
  const auto level = ask(watched);
  if (!level) return;
  watched.leak.add(seconds, level->used_bytes);
  const auto raise = [&](const MemoryLevel& at) {
    const Pressure before = watched.statistics.pressure;
    const Pressure now = next_pressure(before, percent_of(at), options);
    if (now == before) return;
    watched.statistics.pressure = now;
    ++counts.events;
    for (const auto& listener : listeners) listener({watched.source.name, before, now, at});
  };
  raise(*level);
  if (watched.statistics.pressure < Pressure::high) return;
  const double enough_percent = options.high_percent - options.hysteresis_percent;
  const double wanted =
      (percent_of(*level) - enough_percent) / 100 * static_cast<double>(level->total_bytes);
  relieve(
      [&] {
        const auto now = ask(watched);
        return now && percent_of(*now) < enough_percent;
      },
      static_cast<std::size_t>(std::max(wanted, 0.0)));
  if (const auto now = ask(watched)) raise(*now);
}

bool MemoryMonitor::State::would_fit(double bytes, std::string_view source) {
  return std::ranges::all_of(sources, [&](Watched& watched) {
    if (!source.empty() && watched.source.name != source) return true;
    const auto level = ask(watched);
    if (!level || level->total_bytes <= 0) return true;
    return static_cast<double>(level->used_bytes) + bytes <
           options.critical_percent / 100 * static_cast<double>(level->total_bytes);
  });
}

MemoryMonitor::MemoryMonitor(const MemoryMonitorOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
}

MemoryMonitor::~MemoryMonitor() {
  stop();
}

void MemoryMonitor::add(MemorySource source) {
  const std::lock_guard lock(state_->mutex);
  SourceStatistics statistics;
  statistics.source = source.name;
  state_->sources.push_back({std::move(source),
                             runtime::LeakWindow(state_->options.leak_window_seconds),
                             std::move(statistics)});
}

void MemoryMonitor::on_clean_up(int priority, CleanUp clean_up) {
  const std::lock_guard lock(state_->mutex);
  const auto after =
      std::ranges::upper_bound(state_->clean_ups, priority, {}, &std::pair<int, CleanUp>::first);
  state_->clean_ups.insert(after, {priority, std::move(clean_up)});
}

void MemoryMonitor::manage(MemoryPool& pool, std::optional<std::int64_t> total_bytes,
                           int priority) {
  if (total_bytes) add(pool_level(pool, *total_bytes));
  on_clean_up(priority, [&pool](std::size_t wanted) {
    const std::size_t reserved = pool.statistics().reserved_bytes;
    return pool.trim(reserved - std::min(reserved, wanted));
  });
}

void MemoryMonitor::on_pressure(std::function<void(const PressureEvent&)> listener) {
  const std::lock_guard lock(state_->mutex);
  state_->listeners.push_back(std::move(listener));
}

void MemoryMonitor::look() {
  look_at(
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

void MemoryMonitor::look_at(double seconds) {
  const std::lock_guard lock(state_->mutex);
  for (Watched& watched : state_->sources) state_->judge(watched, seconds);
}

void MemoryMonitor::start(std::chrono::milliseconds interval) {
  stop();
  state_->stops = false;
  state_->thread = std::thread([this, interval] {
    std::unique_lock lock(state_->thread_mutex);
    while (!state_->stops) {
      lock.unlock();
      look();
      lock.lock();
      state_->wakes.wait_for(lock, interval, [this] { return state_->stops; });
    }
  });
}

void MemoryMonitor::stop() {
  {
    const std::lock_guard lock(state_->thread_mutex);
    state_->stops = true;
  }
  state_->wakes.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

bool MemoryMonitor::can_allocate(double mb) {
  return can_allocate(mb, {});
}

bool MemoryMonitor::can_allocate(double mb, std::string_view source) {
  if (!(mb >= 0)) return false;
  const double bytes = mb * kBytesPerMb;
  if (bytes > 0x1p62) return false;
  const std::lock_guard lock(state_->mutex);
  const auto is_meant = [&](const Watched& watched) { return watched.source.name == source; };
  if (!source.empty() && std::ranges::none_of(state_->sources, is_meant)) {
    throw std::invalid_argument(std::string(source) + ": no such source of the memory monitor");
  }
  const auto fits = [&] { return state_->would_fit(bytes, source); };
  if (fits()) return true;
  state_->relieve(fits, static_cast<std::size_t>(bytes));
  return fits();
}

std::size_t MemoryMonitor::clean_up(std::size_t wanted) {
  const std::lock_guard lock(state_->mutex);
  const std::uint64_t before = state_->counts.freed_bytes;
  return state_->relieve([&] { return state_->counts.freed_bytes - before >= wanted; }, wanted);
}

Pressure MemoryMonitor::pressure() const {
  const std::lock_guard lock(state_->mutex);
  Pressure highest = Pressure::low;
  for (const Watched& watched : state_->sources) {
    highest = std::max(highest, watched.statistics.pressure);
  }
  return highest;
}

std::vector<LeakSuspicion> MemoryMonitor::leaks() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<LeakSuspicion> found;
  for (const Watched& watched : state_->sources) {
    if (const auto grown = watched.leak.grown()) {
      found.push_back({watched.source.name, *grown, state_->options.leak_window_seconds});
    }
  }
  return found;
}

MonitorStatistics MemoryMonitor::statistics() const {
  const std::lock_guard lock(state_->mutex);
  MonitorStatistics all = state_->counts;
  for (const Watched& watched : state_->sources) all.sources.push_back(watched.statistics);
  return all;
}

}  // namespace fathom
