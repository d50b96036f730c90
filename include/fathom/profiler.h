#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fathom/activity.h"
#include "fathom/attribute.h"
#include "fathom/detail/fixed_scope.h"
#include "fathom/export.h"
#include "fathom/results.h"
#include "fathom/session.h"

namespace fathom {

namespace detail {
class Core;
struct FreeScope;
}  // namespace detail

struct Options {
  bool enabled = true;
  std::optional<std::int32_t> device_id =
      {};                    // count only this GPU's activity; all of them when absent
  double sample_rate = 1.0;  // 0.01: one outermost scope in a hundred, with all that is inside it
  std::size_t max_entries = 100'000;  // raw entries kept; the statistics know no limit
};

struct ScopeOptions {
  std::string device = "cpu";  // "cpu" or "gpu"
  std::string backend = {};    // "opencl", "cuda", "pytorch", "cupy", "cpu"
  std::optional<std::uint64_t> size = {};
  std::vector<Attribute> attributes = {};
};

// A scope of Profiler::profile: measured from there to end() or its destruction. May be moved, and
// ended in any order and on any thread. One that ends on another thread than it began on lasts
// until then, and is counted when its own thread next profiles, asks for figures, or ends.
class FATHOM_API Scope {
 public:
  Scope() noexcept;
  ~Scope();
  Scope(Scope&& other) noexcept;
  Scope& operator=(Scope&& other) noexcept;

  void end() noexcept;
  void fail() noexcept;  // marked as ended by an error that is no C++ exception, when it ends
  void attribute(const Attribute& attribute) noexcept;  // no effect on one that is not measured

 private:
  friend class Profiler;
  explicit Scope(std::shared_ptr<detail::FreeScope> open) noexcept;
  std::shared_ptr<detail::FreeScope> open_;
};

// Measures scopes, on any number of threads at once. No function of it that runs inside a scope's
// program throws: what cannot be done is left out, counted, and reported by drops().
class FATHOM_API Profiler {
 public:
  explicit Profiler(const Options& options = {});
  ~Profiler();  // after all of its scopes have ended
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  Scope profile(std::string_view name, const ScopeOptions& options = {}) noexcept;

  // `fn` as a function that is profiled each time it is called. Results and exceptions pass
  // through. The profiler must outlive what is returned.
  template <typename F>
  auto wrap(std::string name, F fn) {
    return [this, name = std::move(name), fn = std::move(fn)](
               auto&&... args) mutable -> std::invoke_result_t<F&, decltype(args)...> {
      const Scope scope = profile(name);
      return std::invoke(fn, std::forward<decltype(args)>(args)...);
    };
  }

  void enable(bool on) noexcept;
  bool enabled() const noexcept;
  // Forgets all that was measured. Scopes open at that moment are not counted when they end, and
  // are no entries.
  void reset() noexcept;
  void configure(const Options& options) noexcept;  // as if constructed with them, then reset()

  Summaries summary() const;
  std::vector<Bottleneck> bottlenecks(std::size_t top_n = 5) const;
  std::vector<Entry> entries() const;  // ended scopes, by start time
  Drops drops() const;

  std::string summary_text() const;
  std::string bottlenecks_text(std::size_t top_n = 5) const;
  void print_summary() const;
  void print_bottlenecks(std::size_t top_n = 5) const;
  // Profile JSON (docs/formats.md). Throws std::runtime_error where the file cannot be written.
  void export_json(const std::string& path) const;

  // Calls `fn` warmup + iterations times and gives the figures of the latter. Each of those is a
  // scope of this profiler, too, so that GPU work finds it.
  ProfileSession profile_function(const std::function<void()>& fn, std::string_view name,
                                  std::size_t warmup = 5, std::size_t iterations = 20);

  // Writes all scopes from now on to a run file, a Perfetto trace that grows at least once a
  // second. False, with the reason on standard error, where it cannot be written; a recording that
  // goes on is stopped first.
  bool start_recording(const std::string& path) noexcept;
  void stop_recording() noexcept;

  // For recorders of GPU work.
  ScopeRef innermost_scope() noexcept;  // of the calling thread
  void record(const GpuActivity& activity) noexcept;
  void record(const MemoryRecord& record) noexcept;
  void record(const DeviceRecord& device) noexcept;
  void count_lost_activities(std::uint64_t count) noexcept;  // that the recorder had to leave out

 private:
  friend FATHOM_API Profiler& profiler() noexcept;
  explicit Profiler(std::shared_ptr<detail::Core> core) noexcept;
  std::shared_ptr<detail::Core> core_;
};

// The one that FATHOM_SCOPE measures with: the same from every thread, library and language. Alive
// until the process is gone, so scopes in static destructors are fine. With FATHOM_RUN_FILE=path in
// the environment it records from its first use ("%p" in the path is the process id).
FATHOM_API Profiler& profiler() noexcept;

// CLOCK_MONOTONIC_RAW, the clock of activities.
FATHOM_API std::int64_t now_ns() noexcept;

template <typename F>
auto wrap(std::string name, F fn) {
  return profiler().wrap(std::move(name), std::move(fn));
}

}  // namespace fathom
