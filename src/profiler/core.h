#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "fathom/profiler.h"
#include "profiler/activities.h"
#include "profiler/blocks.h"
#include "profiler/operation_stats.h"
#include "profiler/thread_state.h"

namespace fathom::detail {

class Recording;

// How the thread that writes the run file is told that there is something to do.
struct WriterSignal {
  std::mutex mutex;
  std::condition_variable changed;
  bool woken = false;
  bool stopping = false;
};

// What a Profiler is inside: its threads, what finished threads have left, and its options.
class Core {
 public:
  // The global profiler's generation is the one that FATHOM_SCOPE looks at; others have their own.
  Core(const Options& options, std::atomic<std::uint64_t>* generation = nullptr);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }
  void configure(const Options& options) noexcept;
  void enable(bool on) noexcept;
  void reset() noexcept;
  bool start_recording(const std::string& path, bool is_live = false) noexcept;
  void stop_recording() noexcept;
  void start_recording_from_environment() noexcept;  // FATHOM_RUN_FILE, if it is set
  // A child that was forked off a recording begins its own when there is something to record.
  void start_again_in_child() noexcept {
    if (restart_from_environment_.load(std::memory_order_relaxed)) [[unlikely]]
      if (restart_from_environment_.exchange(false)) start_recording_from_environment();
  }
  Options options() const;

  // The calling thread's state, of the lane in use, made on first use; null when there is no memory
  // for it.
  ThreadState* thread() noexcept;
  ThreadState* existing_thread() const noexcept {  // its lane 0; null where it has none yet
    return has_key_ ? static_cast<ThreadState*>(pthread_getspecific(key_)) : nullptr;
  }
  void retire(ThreadState& state) noexcept;  // when its thread ends

  // Statistics of all threads, those gone included, by operation.
  std::unordered_map<OperationId, Statistics> statistics() const;

  struct Timeline {
    std::int64_t tid = 0;
    std::uint64_t since = 0;  // ticks: scopes that began before were open at a reset
    std::vector<Word> words;
  };
  std::vector<Timeline> timelines() const;  // what is kept

  // For the slow paths of threads.
  void adopt(ThreadState& state) noexcept;
  bool samples(ThreadState& state) const noexcept;
  bool keeps_more() const noexcept { return kept_room_.load(std::memory_order_relaxed) > 0; }
  void count_kept_scopes(std::int64_t scopes) noexcept {
    kept_room_.fetch_sub(scopes, std::memory_order_relaxed);
  }
  bool recording() const { return recording_.load(std::memory_order_relaxed); }
  void count_lost_scope() noexcept { lost_scopes_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t lost_scopes() const { return lost_scopes_.load(std::memory_order_relaxed); }
  std::uint64_t dropped_scopes() const;
  void count_pending_block() noexcept;
  void wake_writer() noexcept;
  void release_pending_block() noexcept { pending_blocks_.fetch_sub(1, std::memory_order_relaxed); }

  // For the writer.
  void set_recording(bool on) noexcept;    // threads begin, or stop, to keep words for it
  void set_live(LiveFile* live) noexcept;  // where what waits for it outlives the process
  std::vector<std::shared_ptr<ThreadState>> all_threads() const;
  void release(const ThreadState& state) noexcept;  // of a thread that is gone
  WriterSignal signal;

  // Around a fork: nobody holds a lock in the child, which starts empty and does not record.
  void lock_for_fork() noexcept;
  void unlock_after_fork() noexcept;
  void start_over_in_child() noexcept;

  BlockPool pool;
  ActivityLog activities;

 private:
  void change() noexcept;  // a new generation; with the mutex held
  ThreadState* make_thread(std::uint32_t lane);

  std::atomic<std::uint64_t> own_generation_ = 0;
  std::atomic<std::uint64_t>& generation_;
  pthread_key_t key_{};
  bool has_key_ = false;

  std::mutex recording_mutex_;  // taken before the other
  std::unique_ptr<Recording> recording_file_;

  mutable std::mutex mutex_;  // of the rest, but for the atomics
  Options options_;
  std::vector<std::shared_ptr<ThreadState>> threads_;
  std::uint64_t changes_ = 0;
  std::uint64_t epoch_ = 1;
  std::uint64_t reset_ = 0;  // ticks, when the epoch began
  std::unordered_map<OperationId, Statistics> retired_;
  std::vector<Timeline> retired_timelines_;
  std::uint64_t retired_drops_ = 0;
  std::atomic<double> sample_rate_ = 1.0;
  std::atomic<bool> recording_ = false;
  std::atomic<bool> restart_from_environment_ = false;
  std::atomic<std::int64_t> kept_room_ = 0;  // scopes; what full blocks hold is taken off
  std::atomic<std::int64_t> pending_blocks_ = 0;
  std::atomic<std::uint64_t> lost_scopes_ = 0;
};

// The global profiler's core; made on first use, never destroyed. Null when out of memory.
const std::shared_ptr<Core>& global_core() noexcept;
extern std::mutex global_core_mutex;  // held while it is made; taken before all others

// A scope that begins under `scope`'s name on `thread`, whatever the fast path could not do.
// False where it is not to be ended.
bool begin_scope(ThreadState& thread, OpenScope& scope, OperationId operation,
                 std::string_view annotations) noexcept;

// The innermost open scope of a thread, with a number that GPU work can refer to it by.
ScopeRef refer_to_innermost(ThreadState& thread) noexcept;
// Of a scope that is open on the calling thread; 0 where it is not.
OperationId operation_of(const ThreadState& thread, ScopeRef scope) noexcept;

// At `end` ticks, with annotations for it.
void end_scope(OpenScope& scope, std::uint64_t end, std::string_view annotations,
               bool failed = false) noexcept;

// What is open is not counted and may be left at any time: in a forked child, where it is the
// parent's, and where its thread is gone.
void disown_open_scopes(ThreadState& thread) noexcept;

// Where the thread is gone and the last scope that it left open has ended; under live_scopes().
void retire_ownerless(ThreadState& state);

}  // namespace fathom::detail
