#include "profiler/activities.h"

#include <utility>

namespace fathom::detail {
namespace {

constexpr std::size_t kMostStreamed = 200'000;  // between two writes of the run file
constexpr std::size_t kBatch = 8192;            // the writer is woken for each
constexpr std::size_t kMostBatches = kMostStreamed / kBatch;
constexpr std::size_t kSpareBatches = 4;

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
  return stream(activity);
}

ActivityLog::Batch ActivityLog::new_batch() {
  Batch batch;
  if (!spare_.empty()) {
    batch = std::move(spare_.back());
    spare_.pop_back();
  }
  batch.reserve(kBatch);
  return batch;
}

bool ActivityLog::stream(const GpuActivity& activity) noexcept {
  if (!streaming_) return false;
  try {
    std::vector<Batch>& batches = stream_.activities;
    if (batches.empty() || batches.back().size() == kBatch) {
      if (batches.size() == kMostBatches) {
        ++unwritten_;
        return false;
      }
      batches.push_back(new_batch());
    }
    batches.back().push_back(activity);
    return batches.back().size() == kBatch;
  } catch (...) {
    ++unwritten_;
    return false;
  }
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

bool ActivityLog::told() const {
  const std::lock_guard lock(mutex_);
  return content_.told;
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

void ActivityLog::set_streaming(bool on) noexcept {
  const std::lock_guard lock(mutex_);
  streaming_ = on;
  if (!on) stream_ = {};
}

void ActivityLog::take_stream(Stream& into) noexcept {
  std::vector<Batch> written = std::move(into.activities);
  into = {};
  for (Batch& batch : written) batch.clear();
  const std::lock_guard lock(mutex_);
  std::swap(stream_, into);
  while (!written.empty() && spare_.size() < kSpareBatches) {
    try {
      spare_.push_back(std::move(written.back()));
    } catch (...) {
      return;
    }
    written.pop_back();
  }
}

}  // namespace fathom::detail
