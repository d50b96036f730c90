#include "profiler/activities.h"

#include <utility>

namespace fathom::detail {
namespace {

constexpr std::size_t kMostStreamed = 200'000;  // between two writes of the run file
constexpr std::size_t kWakeEvery = 8192;

}  // namespace

template <typename T>
void ActivityLog::keep(std::vector<T>& kept, const T& record) noexcept {
  try {
    if (kept.size() >= limit_) {
      ++dropped_;
    } else {
      kept.push_back(record);
    }
  } catch (...) {
    ++dropped_;
  }
}

template <typename T>
void ActivityLog::stream(std::vector<T>& stream, const T& record) noexcept {
  try {
    if (!streaming_) return;
    if (stream.size() >= kMostStreamed) {
      ++unwritten_;
    } else {
      stream.push_back(record);
    }
  } catch (...) {
    ++unwritten_;
  }
}

// What no scope has launched counts for none, so only the run file wants it.
bool ActivityLog::add(const GpuActivity& activity) noexcept {
  const std::lock_guard lock(mutex_);
  content_.told = true;
  if (activity.scope) keep(content_.activities, activity);
  stream(stream_.activities, activity);
  return stream_.activities.size() % kWakeEvery == kWakeEvery - 1;
}

void ActivityLog::add(const GpuDevice& device) noexcept {
  const std::lock_guard lock(mutex_);
  keep(content_.devices, device);
  stream(stream_.devices, device);
}

void ActivityLog::count_lost(std::uint64_t count) noexcept {
  const std::lock_guard lock(mutex_);
  unwritten_ += count;
}

void ActivityLog::add(const MemoryRecord& record) noexcept {
  const std::lock_guard lock(mutex_);
  keep(content_.memory, record);
  stream(stream_.memory, record);
}

void ActivityLog::add(const ScopeInstance& scope) noexcept {
  const std::lock_guard lock(mutex_);
  keep(content_.scopes, scope);
}

void ActivityLog::add_gpu_operation(OperationId operation) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    gpu_operations_.insert(operation);
  } catch (...) {
    ++dropped_;
  }
}

std::uint64_t ActivityLog::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_ + unwritten_;
}

std::uint64_t ActivityLog::unwritten() const {
  const std::lock_guard lock(mutex_);
  return unwritten_;
}

ActivityLog::Content ActivityLog::content() const {
  const std::lock_guard lock(mutex_);
  return content_;
}

bool ActivityLog::is_gpu_operation(OperationId operation) const {
  const std::lock_guard lock(mutex_);
  return gpu_operations_.contains(operation);
}

void ActivityLog::set_limit(std::size_t each) noexcept {
  const std::lock_guard lock(mutex_);
  limit_ = each;
}

void ActivityLog::clear() noexcept {
  const std::lock_guard lock(mutex_);
  content_ = {};
  gpu_operations_.clear();
  dropped_ = 0;
  unwritten_ = 0;
}

// For twice what the writer is woken for: so much comes before it has woken up.
void ActivityLog::make_room(Content& stream) noexcept {
  try {
    stream.activities.reserve(2 * kWakeEvery);
  } catch (...) {
    // It will grow, or what comes is counted as lost.
  }
}

void ActivityLog::set_streaming(bool on) noexcept {
  const std::lock_guard lock(mutex_);
  streaming_ = on;
  if (on) make_room(stream_);
  if (!on) stream_ = {};
}

void ActivityLog::take_stream(Content& into) noexcept {
  into.activities.clear();
  into.memory.clear();
  into.scopes.clear();
  into.devices.clear();
  const std::lock_guard lock(mutex_);
  std::swap(stream_, into);
}

}  // namespace fathom::detail
