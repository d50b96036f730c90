#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/export.h"
#include "fathom/memory_pool.h"

// Does it fit, and what to do when it does not: link fathom::runtime.
//
//   fathom::MemoryMonitor monitor;
//   monitor.add(fathom::host_level());
//   monitor.on_clean_up(1, [&](std::size_t wanted) { return cache.shrink(wanted); });
//   monitor.start();
//   if (monitor.can_allocate(512)) …
namespace fathom {

struct MemoryLevel {
  std::int64_t used_bytes = 0;
  std::int64_t total_bytes = 0;
};

struct MemorySource {
  std::string name;
  std::function<std::optional<MemoryLevel>()> level;  // nothing: not known now
};
FATHOM_API MemorySource host_level();  // what programs use of the machine's memory
// What is used of `total_bytes`; free parts of the pool count as used until they are given back.
// The pool outlives the monitor.
FATHOM_API MemorySource pool_level(const MemoryPool& pool, std::int64_t total_bytes);
// All GPUs that are found, one source each, as their drivers tell; they are looked at in the
// background.
FATHOM_API std::vector<MemorySource> device_levels();

enum class Pressure : std::uint8_t { low, moderate, high, critical };
FATHOM_API std::string_view name_of(Pressure pressure);

struct PressureEvent {
  std::string source;
  Pressure before = Pressure::low;
  Pressure now = Pressure::low;
  MemoryLevel level = {};
};

struct MemoryMonitorOptions {
  // From here on; a level is left this many points lower than it is entered.
  double moderate_percent = 70;
  double high_percent = 85;  // clean-up begins, too
  double critical_percent = 95;
  double hysteresis_percent = 5;
  double leak_window_seconds = 300;
};

// Memory grew in each fifth of the window, even where it was lowest.
struct LeakSuspicion {
  std::string source;
  std::int64_t grown_bytes = 0;  // in the window
  double window_seconds = 0;
};

struct SourceStatistics {
  std::string source;
  std::optional<MemoryLevel> level;
  std::int64_t peak_bytes = 0;
  Pressure pressure = Pressure::low;
  std::uint64_t looks = 0;
};

struct MonitorStatistics {
  std::vector<SourceStatistics> sources;
  std::uint64_t clean_ups = 0;    // calls of callbacks
  std::uint64_t freed_bytes = 0;  // as they say
  std::uint64_t events = 0;
};

// Any thread may call; callbacks are called on the thread that looks, one at a time, and may call
// the monitor but not remove or add.
class FATHOM_API MemoryMonitor {
 public:
  explicit MemoryMonitor(const MemoryMonitorOptions& options = {});
  ~MemoryMonitor();
  MemoryMonitor(const MemoryMonitor&) = delete;
  MemoryMonitor& operator=(const MemoryMonitor&) = delete;

  void add(MemorySource source);
  // Gives back what it can of `wanted` bytes and says how much that was. Lower priorities first.
  using CleanUp = std::function<std::size_t(std::size_t wanted)>;
  void on_clean_up(int priority, CleanUp clean_up);
  // A pool gives back what nobody uses, the least recently used segments first, before any other
  // clean-up of `priority` or above. With `total_bytes`, which it may use, it is a source, too. The
  // pool outlives the monitor.
  void manage(MemoryPool& pool, std::optional<std::int64_t> total_bytes = {}, int priority = 0);
  void on_pressure(std::function<void(const PressureEvent&)> listener);

  // Looks at all sources now: events, clean-up where pressure is high. `seconds` is the time by
  // any clock that goes on; without it, the machine's.
  void look();
  void look_at(double seconds);
  void start(std::chrono::milliseconds interval = std::chrono::milliseconds(1000));
  void stop();

  // Whether no source would become critical, asked anew; cleans up first where that would be so.
  // Negative sizes do not fit. Without a source everything does; one that was not added throws
  // std::invalid_argument.
  bool can_allocate(double mb);
  bool can_allocate(double mb, std::string_view source);
  std::size_t clean_up(std::size_t wanted);  // bytes that callbacks gave back

  Pressure pressure() const;  // the highest, as of the last look
  std::vector<LeakSuspicion> leaks() const;
  MonitorStatistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom
