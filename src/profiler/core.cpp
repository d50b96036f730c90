#include "profiler/core.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <unordered_set>

#include "base/printable.h"
#include "profiler/free_scope.h"
#include "profiler/recording.h"

namespace fathom::detail {
namespace {

constexpr std::size_t kPendingBlocks = (std::size_t{64} << 20) / kBlockBytes;

// What exists, so that a thread that ends while its profiler is destroyed does no harm, and so that
// a fork finds every lock. Its mutex is taken before all others but global_core_mutex.
struct Live {
  std::mutex mutex;
  std::unordered_set<const ThreadState*> states;
  std::unordered_set<Core*> cores;
};

Live& live() {
  static Live& all = *new Live;
  return all;
}

void before_fork() {
  global_core_mutex.lock();
  live().mutex.lock();
  for (Core* core : live().cores) core->lock_for_fork();
  lock_operations();
}

void after_fork_in_parent() {
  unlock_operations();
  for (Core* core : live().cores) core->unlock_after_fork();
  live().mutex.unlock();
  global_core_mutex.unlock();
}

void after_fork_in_child() {
  unlock_operations();
  for (Core* core : live().cores) core->unlock_after_fork();
  live().states.clear();
  for (Core* core : live().cores) {
    core->start_over_in_child();
    for (const auto& state : core->all_threads()) live().states.insert(state.get());
  }
  live().mutex.unlock();
  global_core_mutex.unlock();
}

// From the beginning: a fork while another thread makes the first core has to wait for it.
[[gnu::constructor]] void watch_forks() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// A thread that leaves scopes open leaves its state to those who end them.
bool leave_to_anyone(ThreadState& state) {
  static constexpr unsigned kNoExceptions = 0;
  close_abandoned(state);
  state.own_uncaught = &kNoExceptions;  // the thread's own goes with it
  return_to_fast_path(state);
  for (const auto& scope : state.free_scopes) scope->keeper.store(FreeScope::Keeper::anyone);
  return !state.free_scopes.empty();
}

void leave_thread(ThreadState* state) {
  if (!live().states.contains(state)) return;
  if (current_thread == state) current_thread = nullptr;
  if (leave_to_anyone(*state)) return;
  live().states.erase(state);
  state->core->retire(*state);
}

void on_thread_exit(void* pointer) {
  auto* const state = static_cast<ThreadState*>(pointer);
  const std::lock_guard lock(live().mutex);
  if (!live().states.contains(state)) return;
  const std::vector<ThreadState*> lanes = std::move(state->lanes);
  for (ThreadState* const lane : lanes) {
    if (lane != nullptr) leave_thread(lane);
  }
  leave_thread(state);
}

}  // namespace

std::mutex& live_scopes() {
  return live().mutex;
}

void retire_ownerless(ThreadState& state) {
  live().states.erase(&state);
  state.core->retire(state);
}

Core::Core(const Options& options, std::atomic<std::uint64_t>* generation)
    : generation_(generation != nullptr ? *generation : own_generation_) {
  has_key_ = pthread_key_create(&key_, on_thread_exit) == 0;
  configure(options);
  const std::lock_guard lock(live().mutex);
  live().cores.insert(this);
}

Core::~Core() {
  stop_recording();
  const std::lock_guard lock(live().mutex);
  live().cores.erase(this);
  for (const auto& state : threads_) {
    live().states.erase(state.get());
    for (const auto& scope : state->free_scopes) scope->keeper.store(FreeScope::Keeper::nobody);
  }
  if (has_key_) pthread_key_delete(key_);
}

void Core::change() noexcept {
  ++changes_;
  generation_.store(options_.enabled && has_key_ ? changes_ : 0, std::memory_order_relaxed);
}

void Core::configure(const Options& options) noexcept {
  {
    const std::lock_guard lock(mutex_);
    options_ = options;
    // Two words per scope, and as many again for attributes.
    const std::size_t kept_blocks = 4 * options.max_entries / Block::kWords + 1;
    pool.set_limit(kept_blocks + kPendingBlocks);
    activities.set_limit(options.max_entries);
    sample_rate_.store(options.sample_rate, std::memory_order_relaxed);
  }
  reset();
}

void Core::enable(bool on) noexcept {
  const std::lock_guard lock(mutex_);
  options_.enabled = on;
  change();
}

void Core::reset() noexcept {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  reset_ = ticks();
  retired_.clear();
  retired_timelines_.clear();
  retired_drops_ = 0;
  activities.clear();
  lost_scopes_.store(0, std::memory_order_relaxed);
  kept_room_.store(static_cast<std::int64_t>(options_.max_entries), std::memory_order_relaxed);
  change();
}

void Core::set_recording(bool on) noexcept {
  const std::lock_guard lock(mutex_);
  recording_.store(on, std::memory_order_relaxed);
  change();
}

void Core::set_live(LiveFile* live) noexcept {
  if (live == nullptr) return;  // what came out of an earlier one goes back there
  pool.set_live(live);
  activities.set_live(live);
  set_live_names(live);
}

bool Core::start_recording(const std::string& path, bool is_live) noexcept {
  const std::lock_guard lock(recording_mutex_);
  try {
    recording_file_.reset();
    recording_file_ = std::make_unique<Recording>(*this, path, is_live);
    return true;
  } catch (const std::exception& error) {
    base::say(stderr, "fathom: " + base::printable(error.what()) + "\n");
    return false;
  }
}

void Core::start_recording_from_environment() noexcept {
  if (&generation_ != &global_generation) return;
  if (const char* const path = std::getenv("FATHOM_RUN_FILE"); path != nullptr && *path != '\0') {
    start_recording(path, true);
  }
}

void Core::stop_recording() noexcept {
  close_abandoned_here(*this);
  const std::lock_guard lock(recording_mutex_);
  recording_file_.reset();
}

void Core::count_pending_block() noexcept {
  constexpr std::int64_t kWakeEvery = 64;  // four megabytes
  const std::int64_t pending = pending_blocks_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (pending % kWakeEvery == 0) wake_writer();
}

void Core::wake_writer() noexcept {
  {
    const std::lock_guard lock(signal.mutex);
    signal.woken = true;
  }
  signal.changed.notify_one();
}

std::vector<std::shared_ptr<ThreadState>> Core::all_threads() const {
  const std::lock_guard lock(mutex_);
  return threads_;
}

void Core::release(const ThreadState& state) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(threads_, [&](const auto& each) { return each.get() == &state; });
}

Options Core::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

ThreadState* Core::make_thread(std::uint32_t lane) {
  auto state = std::make_shared<ThreadState>(*this, lane);
  ThreadState* const made = state.get();
  {
    const std::lock_guard lock(live().mutex);
    live().states.insert(made);
  }
  const std::lock_guard lock(mutex_);
  threads_.push_back(std::move(state));
  return made;
}

ThreadState* Core::thread() noexcept {
  if (!has_key_) return nullptr;
  const bool is_global = &generation_ == &global_generation;
  try {
    auto* state = static_cast<ThreadState*>(pthread_getspecific(key_));
    if (state == nullptr) {
      state = make_thread(0);
      pthread_setspecific(key_, state);
    }
    if (const std::uint32_t lane = current_lane; lane > 0) {
      std::vector<ThreadState*>& lanes = state->lanes;
      if (lanes.size() <= lane) lanes.resize(lane + 1);
      if (lanes[lane] == nullptr) lanes[lane] = make_thread(lane);
      state = lanes[lane];
    }
    if (is_global) current_thread = state;
    return state;
  } catch (...) {
    return nullptr;
  }
}

void Core::adopt(ThreadState& state) noexcept {
  std::uint64_t generation = 0;
  std::uint64_t epoch = 0;
  {
    const std::lock_guard lock(mutex_);
    generation = changes_;
    epoch = epoch_;
  }
  // Only a child that was forked off a recording has this set.
  if (restart_from_environment_.exchange(false, std::memory_order_relaxed)) {
    start_recording_from_environment();
    adopt(state);
    return;
  }
  state.seen = generation;
  state.generation =
      sample_rate_.load(std::memory_order_relaxed) < 1 ? ThreadState::kNoGeneration : generation;
  if (state.epoch != epoch) {
    const std::lock_guard lock(state.mutex);
    state.epoch = epoch;
    for (const auto& [operation, stats] : state.all_operations) stats->clear();
    for (OpenScope* scope = state.open; scope != &state.root; scope = scope->parent) {
      scope->stats = nullptr;
    }
    forget_timeline(state);
  }
  begin_timeline(state, recording());
}

bool Core::samples(ThreadState& state) const noexcept {
  const double rate = sample_rate_.load(std::memory_order_relaxed);
  if (rate >= 1) return true;
  state.random ^= state.random << 13;
  state.random ^= state.random >> 7;
  state.random ^= state.random << 17;
  return static_cast<double>(state.random >> 11) * 0x1p-53 < rate;
}

void Core::retire(ThreadState& state) noexcept {
  const std::lock_guard lock(mutex_);
  {
    const std::lock_guard state_lock(state.mutex);
    state.open = &state.root;
    try {
      if (state.epoch == epoch_) {
        for (const auto& [operation, stats] : state.all_operations) {
          retired_[operation].merge(stats->snapshot());
        }
        std::vector<Word> words = kept_words(state);
        if (!words.empty()) retired_timelines_.push_back({state.tid, reset_, std::move(words)});
        retired_drops_ += state.dropped;
      }
    } catch (...) {
      count_lost_scope();
    }
    state.all_operations.clear();
    finish_timeline(state);
    state.finished.store(true, std::memory_order_release);
    if (state.stream != nullptr) return;  // the writer has to read it yet
  }
  std::erase_if(threads_, [&](const auto& each) { return each.get() == &state; });
}

std::unordered_map<OperationId, Statistics> Core::statistics() const {
  const std::lock_guard lock(mutex_);
  std::unordered_map<OperationId, Statistics> all = retired_;
  for (const auto& state : threads_) {
    const std::lock_guard state_lock(state->mutex);
    if (state->epoch != epoch_) continue;
    for (const auto& [operation, stats] : state->all_operations) {
      all[operation].merge(stats->snapshot());
    }
  }
  std::erase_if(all, [](const auto& each) { return each.second.count == 0; });
  return all;
}

std::vector<Core::Timeline> Core::timelines() const {
  const std::lock_guard lock(mutex_);
  std::vector<Timeline> all = retired_timelines_;
  for (const auto& state : threads_) {
    const std::lock_guard state_lock(state->mutex);
    if (state->epoch == epoch_) all.push_back({state->tid, reset_, kept_words(*state)});
  }
  return all;
}

void Core::lock_for_fork() noexcept {
  recording_mutex_.lock();
  mutex_.lock();
  for (const auto& state : threads_) state->mutex.lock();
  pool.lock_for_fork();
  activities.lock_for_fork();
  signal.mutex.lock();
}

void Core::unlock_after_fork() noexcept {
  signal.mutex.unlock();
  activities.unlock_after_fork();
  pool.unlock_after_fork();
  for (const auto& state : threads_) state->mutex.unlock();
  mutex_.unlock();
  recording_mutex_.unlock();
}

void Core::start_over_in_child() noexcept {
  // The parent's writer waits on it for ever: a condition that remembers it would be waited for
  // when it is signalled again, or destroyed.
  new (&signal) WriterSignal;
  if (recording_file_ != nullptr) {
    // Its thread does not exist here: all that can be done is to let go of the file.
    recording_file_->abandon();
    static_cast<void>(recording_file_.release());
    set_recording(false);
    activities.start_over_in_child();
    set_live_names(nullptr);
    pending_blocks_.store(0, std::memory_order_relaxed);
    restart_from_environment_.store(true, std::memory_order_relaxed);
  }
  auto* const own = static_cast<ThreadState*>(pthread_getspecific(key_));
  {
    const std::lock_guard lock(mutex_);
    for (const auto& state : threads_) {
      for (const auto& scope : state->free_scopes) scope->keeper.store(FreeScope::Keeper::nobody);
      disown_open_scopes(*state);
      forget_in_child(*state);
    }
    pool.start_over_in_child();
    std::erase_if(threads_, [&](const auto& each) { return each.get() != own; });
  }
  if (own != nullptr) {
    own->free_scopes.clear();
    own->abandoned.store(0);
    own->lanes.clear();
  }
  if (&generation_ == &global_generation) current_thread = nullptr;  // a lane, perhaps: look again
  reset();
}

std::uint64_t Core::dropped_scopes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t dropped = retired_drops_;
  for (const auto& state : threads_) {
    const std::lock_guard state_lock(state->mutex);
    if (state->epoch == epoch_) dropped += state->dropped;
  }
  return dropped;
}

}  // namespace fathom::detail
