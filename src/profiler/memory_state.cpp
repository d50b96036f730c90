#include "profiler/memory_state.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <utility>

namespace fathom::detail {
namespace {

// Never destroyed: layers report frees in static destructors.
struct Followers {
  std::mutex mutex;
  std::vector<MemoryState*> all;
  std::vector<MemoryState*> existing;  // those that do not follow anything now, too
};
std::atomic<int> follower_count = 0;

Followers& followers() noexcept {
  alignas(Followers) static unsigned char place[sizeof(Followers)];
  static auto* const made = new (place) Followers;
  return *made;
}

void followers_before_fork() {
  followers().mutex.lock();
  for (MemoryState* state : followers().existing) state->mutex.lock();
}

void followers_after_fork_in_parent() {
  for (MemoryState* state : followers().existing) state->mutex.unlock();
  followers().mutex.unlock();
}

void followers_after_fork_in_child() {
  for (MemoryState* state : followers().existing) state->start_over_in_child();
  followers_after_fork_in_parent();
}

// From the beginning: not by a thread that a child may lack.
[[gnu::constructor]] void watch_forks() {
  pthread_atfork(followers_before_fork, followers_after_fork_in_parent,
                 followers_after_fork_in_child);
}

// Second figure of statm: resident pages.
std::optional<std::int64_t> resident_bytes() noexcept {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[128];
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return {};
  text[size] = '\0';
  char* end = nullptr;
  std::strtoll(text, &end, 10);
  return std::strtoll(end, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

}  // namespace

bool memory_is_followed() noexcept {
  return follower_count.load(std::memory_order_relaxed) != 0;
}

void feed_memory(const MemoryRecord& record, OperationId operation) noexcept {
  const std::lock_guard lock(followers().mutex);
  for (MemoryState* follower : followers().all) follower->take(record, operation);
}

MemoryState::MemoryState(const MemoryOptions& wanted)
    : options(wanted), log(wanted.record_history) {
  const std::lock_guard lock(followers().mutex);
  followers().existing.push_back(this);
}

MemoryState::~MemoryState() {
  stop();
  const std::lock_guard lock(followers().mutex);
  std::erase(followers().existing, this);
}

void MemoryState::start_over_in_child() noexcept {
  new (&running_) std::mutex;
  new (&sampler_) std::thread;
  new (&wake_) std::condition_variable;
}

void MemoryState::start() noexcept {
  stop();
  const std::lock_guard running(running_);
  try {
    {
      const std::lock_guard lock(mutex);
      log = MemoryLog(options.record_history);
      tracked.clear();
      start_ns = now_ns();
      stopping_ = false;
    }
    {
      const std::lock_guard lock(followers().mutex);
      followers().all.push_back(this);
      follower_count.store(static_cast<int>(followers().all.size()), std::memory_order_relaxed);
    }
    sampler_ = std::thread([this] { sample(); });
  } catch (...) {  // no thread, no memory: allocations are followed as far as they can be
  }
}

void MemoryState::stop() noexcept {
  const std::lock_guard running(running_);
  {
    const std::lock_guard lock(followers().mutex);
    std::erase(followers().all, this);
    follower_count.store(static_cast<int>(followers().all.size()), std::memory_order_relaxed);
  }
  {
    const std::lock_guard lock(mutex);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!sampler_.joinable()) return;
  try {
    sampler_.join();
  } catch (...) {
  }
}

void MemoryState::take(const MemoryRecord& record, OperationId operation) noexcept {
  const std::lock_guard lock(mutex);
  try {
    log.add(record, operation, record.name);
  } catch (...) {  // no memory: the record is left out
  }
  for (const auto& track : open_tracks) {
    track->highest = std::max(track->highest, log.allocated());
  }
}

void MemoryState::sample() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the program's business
  const auto interval = std::chrono::microseconds(
      static_cast<std::int64_t>(std::clamp(options.sample_interval_ms, 0.1, 1e7) * 1000));
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  while (true) {
    lock.unlock();
    const std::optional<std::int64_t> rss = resident_bytes();
    lock.lock();
    try {
      if (rss) log.add_rss(now_ns(), *rss);
    } catch (...) {
    }
    if (stopping_) return;  // with a last sample
    next = std::max(next + interval, std::chrono::steady_clock::now());
    wake_.wait_until(lock, next, [this] { return stopping_; });
  }
}

MemoryState::Track* MemoryState::begin_track() noexcept {
  const std::optional<std::int64_t> rss = resident_bytes();
  const std::lock_guard lock(mutex);
  try {
    open_tracks.push_back(std::make_unique<Track>(Track{log.allocated(), log.allocated(), rss}));
    return open_tracks.back().get();
  } catch (...) {
    return nullptr;
  }
}

void MemoryState::end_track(Track* track, const std::string& name) noexcept {
  const std::optional<std::int64_t> rss = resident_bytes();
  const std::lock_guard lock(mutex);
  try {
    Tracked& all = tracked[name];
    ++all.count;
    all.change += log.allocated() - track->allocated;
    all.highest = std::max(all.highest, track->highest);
    if (rss && track->rss) all.rss_change = all.rss_change.value_or(0) + *rss - *track->rss;
  } catch (...) {
  }
  std::erase_if(open_tracks, [&](const auto& open) { return open.get() == track; });
}

}  // namespace fathom::detail
