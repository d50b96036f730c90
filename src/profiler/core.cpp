#include "profiler/core.h"

#include <algorithm>
#include <unordered_set>

#include "profiler/free_scope.h"

namespace fathom::detail {
namespace {

constexpr std::size_t kPendingBlocks = (std::size_t{64} << 20) / kBlockBytes;

// States that exist, so that a thread that ends while its profiler is destroyed does no harm.
struct LiveStates {
  std::mutex mutex;
  std::unordered_set<const ThreadState*> states;
};

LiveStates& live() {
  static LiveStates& all = *new LiveStates;
  return all;
}

void on_thread_exit(void* pointer) {
  auto* const state = static_cast<ThreadState*>(pointer);
  const std::lock_guard lock(live().mutex);
  if (live().states.erase(state) != 0) state->core->retire(*state);
}

}  // namespace

Core::Core(const Options& options, std::atomic<std::uint64_t>* generation)
    : generation_(generation != nullptr ? *generation : own_generation_) {
  has_key_ = pthread_key_create(&key_, on_thread_exit) == 0;
  configure(options);
}

Core::~Core() {
  const std::lock_guard lock(live().mutex);
  for (const auto& state : threads) {
    live().states.erase(state.get());
    for (const auto& scope : state->free_scopes) scope->orphaned.store(true);
  }
  if (has_key_) pthread_key_delete(key_);
}

void Core::change() noexcept {
  ++changes_;
  generation_.store(options_.enabled && has_key_ ? changes_ : 0, std::memory_order_relaxed);
}

void Core::configure(const Options& options) noexcept {
  {
    const std::lock_guard lock(mutex);
    options_ = options;
    const std::size_t kept_blocks = 2 * options.max_entries / Block::kWords + 1;
    pool.set_limit(kept_blocks + kPendingBlocks);
    sample_rate_.store(options.sample_rate, std::memory_order_relaxed);
  }
  reset();
}

void Core::enable(bool on) noexcept {
  const std::lock_guard lock(mutex);
  options_.enabled = on;
  change();
}

void Core::reset() noexcept {
  const std::lock_guard lock(mutex);
  ++epoch_;
  retired_.clear();
  retired_timelines_.clear();
  retired_drops_ = 0;
  lost_scopes_.store(0, std::memory_order_relaxed);
  kept_room_.store(static_cast<std::int64_t>(2 * options_.max_entries), std::memory_order_relaxed);
  change();
}

void Core::set_recording(bool on) noexcept {
  const std::lock_guard lock(mutex);
  recording_.store(on, std::memory_order_relaxed);
  change();
}

Options Core::options() const {
  const std::lock_guard lock(mutex);
  return options_;
}

ThreadState* Core::thread() noexcept {
  if (!has_key_) return nullptr;
  if (void* const known = pthread_getspecific(key_)) return static_cast<ThreadState*>(known);
  try {
    auto state = std::make_unique<ThreadState>(*this);
    ThreadState* const made = state.get();
    {
      const std::lock_guard lock(live().mutex);
      live().states.insert(made);
    }
    {
      const std::lock_guard lock(mutex);
      threads.push_back(std::move(state));
    }
    pthread_setspecific(key_, made);
    if (&generation_ == &global_generation) current_thread = made;
    return made;
  } catch (...) {
    return nullptr;
  }
}

void Core::adopt(ThreadState& state) noexcept {
  std::uint64_t generation = 0;
  std::uint64_t epoch = 0;
  {
    const std::lock_guard lock(mutex);
    generation = changes_;
    epoch = epoch_;
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

bool Core::claim_kept_words(std::int64_t words) noexcept {
  // The last block may be claimed in part: entries() cuts what is beyond max_entries.
  if (kept_room_.load(std::memory_order_relaxed) <= 0) return false;
  return kept_room_.fetch_sub(words, std::memory_order_relaxed) > 0;
}

void Core::retire(ThreadState& state) noexcept {
  const std::lock_guard lock(mutex);
  {
    const std::lock_guard state_lock(state.mutex);
    for (const auto& scope : state.free_scopes) scope->orphaned.store(true);
    state.open = &state.root;
    try {
      if (state.epoch == epoch_) {
        for (const auto& [operation, stats] : state.all_operations) {
          retired_[operation].merge(stats->snapshot());
        }
        std::vector<Word> words = kept_words(state);
        const auto claimed = static_cast<std::int64_t>(state.kept.size() * Block::kWords);
        refund_kept_words(claimed - static_cast<std::int64_t>(words.size()));
        if (!words.empty()) retired_timelines_.push_back({state.tid, std::move(words)});
        retired_drops_ += state.dropped;
      }
    } catch (...) {
      count_lost_scope();
    }
    state.all_operations.clear();
    finish_timeline(state);
    state.finished = true;
  }
  if (&generation_ == &global_generation) current_thread = nullptr;
  if (state.stream == nullptr) {
    std::erase_if(threads, [&](const auto& each) { return each.get() == &state; });
  }
}

std::unordered_map<OperationId, Statistics> Core::statistics() const {
  const std::lock_guard lock(mutex);
  std::unordered_map<OperationId, Statistics> all = retired_;
  for (const auto& state : threads) {
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
  const std::lock_guard lock(mutex);
  std::vector<Timeline> all = retired_timelines_;
  for (const auto& state : threads) {
    const std::lock_guard state_lock(state->mutex);
    if (state->epoch == epoch_) all.push_back({state->tid, kept_words(*state)});
  }
  return all;
}

std::uint64_t Core::dropped_scopes() const {
  const std::lock_guard lock(mutex);
  std::uint64_t dropped = retired_drops_;
  for (const auto& state : threads) {
    const std::lock_guard state_lock(state->mutex);
    if (state->epoch == epoch_) dropped += state->dropped;
  }
  return dropped;
}

}  // namespace fathom::detail
