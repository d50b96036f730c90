#include "profiler/activities.h"

#include <sys/mman.h>

#include <new>
#include <utility>

#include "profiler/live_file.h"

namespace fathom::detail {
namespace {

constexpr std::size_t kMostBlocks = 128;  // 32 MB, or some 400,000 activities
constexpr std::size_t kSpareBlocks = 8;

// Adds to a list that has room, else to the number of those that it lacks.
template <typename T>
void add_up_to(std::size_t most, std::vector<T>& list, const T& record,
               std::uint64_t& lacks) noexcept {
  try {
    if (list.size() >= most) {
      ++lacks;
    } else {
      list.push_back(record);
    }
  } catch (...) {
    ++lacks;
  }
}

}  // namespace

template <typename T>
void ActivityLog::keep(std::vector<T>& kept, const T& record) noexcept {
  add_up_to(limit_, kept, record, dropped_);
}

// What no scope has launched counts for none, so only the run file wants it.
bool ActivityLog::add(const GpuActivity& activity) noexcept {
  const std::lock_guard lock(mutex_);
  content_.has_reports = true;
  if (activity.scope) keep(content_.activities, activity);
  return stream(activity);
}

void ActivityLog::Unmap::operator()(ActivityBlock* block) const noexcept {
  block->number = 0;
  if (live != nullptr && live->activities().give_back(block, false)) return;
  munmap(block, sizeof *block);
}

ActivityLog::Block ActivityLog::new_block() {
  if (!spare_.empty()) {
    Block block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }
  void* pages = live_ != nullptr ? live_->activities().take() : nullptr;
  if (pages == nullptr) {
    pages = mmap(nullptr, sizeof(ActivityBlock), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return {new (pages) ActivityBlock, {live_}};
}

template <typename T>
bool ActivityLog::stream(const T& record) noexcept {
  if (!streaming_) return false;
  try {
    std::vector<Block>& blocks = stream_.blocks;
    const bool full = blocks.empty() || !blocks.back()->has_room();
    if (full) [[unlikely]] {
      if (blocks.size() == kMostBlocks) {
        ++unwritten_;
        return false;
      }
      blocks.push_back(new_block());
      blocks.back()->used.store(0, std::memory_order_relaxed);
      blocks.back()->number = ++blocks_;
    }
    blocks.back()->add(record);
    return full && blocks.size() > 1;
  } catch (...) {
    ++unwritten_;
    return false;
  }
}

void ActivityLog::add(const DeviceRecord& device) noexcept {
  const std::lock_guard lock(mutex_);
  keep(content_.devices, device);
  stream(device);
}

void ActivityLog::count_lost(std::uint64_t count) noexcept {
  const std::lock_guard lock(mutex_);
  unwritten_ += count;
}

void ActivityLog::add(const MemoryRecord& record) noexcept {
  const std::lock_guard lock(mutex_);
  keep(content_.memory, record);
  stream(record);
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

bool ActivityLog::has_reports() const {
  const std::lock_guard lock(mutex_);
  return content_.has_reports;
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
  std::vector<DeviceRecord> devices = std::move(content_.devices);
  content_ = {};
  content_.devices = std::move(devices);  // they are there still, and reported only once
  gpu_operations_.clear();
  dropped_ = 0;
  unwritten_ = 0;
}

void ActivityLog::set_streaming(bool on) noexcept {
  const std::lock_guard lock(mutex_);
  if (on == streaming_) return;
  streaming_ = on;
  stream_ = {};
  if (!on) return;
  // A run that begins late, or in a forked child, has the same devices.
  for (const DeviceRecord& device : content_.devices) stream(device);
}

void ActivityLog::set_live(LiveFile* live) noexcept {
  const std::lock_guard lock(mutex_);
  live_ = live;
  spare_.clear();
}

void ActivityLog::start_over_in_child() noexcept {
  set_streaming(false);
  set_live(nullptr);
}

void ActivityLog::take_stream(Stream& into) noexcept {
  const std::lock_guard lock(mutex_);  // to the end: the live file's pieces go back under it, too
  std::vector<Block> written = std::move(into.blocks);
  into = {};
  std::swap(stream_, into);
  while (!written.empty() && spare_.size() < kSpareBlocks) {
    try {
      spare_.push_back(std::move(written.back()));
    } catch (...) {
      return;
    }
    spare_.back()->number = 0;
    written.pop_back();
  }
}

}  // namespace fathom::detail
