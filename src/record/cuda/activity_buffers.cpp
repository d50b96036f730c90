#include "record/cuda/activity_buffers.h"

#include <cstdlib>

namespace fathom::record::cuda {
namespace {

constexpr std::size_t kAlignment = 8;  // ACTIVITY_RECORD_ALIGNMENT
constexpr std::size_t kKeptFree = 16;  // the rest goes back to the system after a burst

}  // namespace

BufferPool::BufferPool(std::size_t most_buffers) : most_(most_buffers) {
  free_.reserve(kKeptFree);
  filled_.reserve(most_);
}

BufferPool::~BufferPool() {
  for (std::uint8_t* data : free_) std::free(data);
  for (const FilledBuffer& buffer : filled_) std::free(buffer.data);
}

std::uint8_t* BufferPool::request() noexcept {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    std::uint8_t* data = free_.back();
    free_.pop_back();
    return data;
  }
  if (made_ == most_) return nullptr;
  auto* data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  if (data != nullptr) ++made_;
  return data;
}

void BufferPool::complete(std::uint8_t* data, std::size_t valid) noexcept {
  if (data == nullptr) return;
  if (valid == 0) return give_back(data);
  const std::lock_guard lock(mutex_);
  filled_.push_back({data, valid});
}

std::vector<FilledBuffer> BufferPool::take_filled() {
  std::vector<FilledBuffer> taken;
  taken.reserve(most_);
  const std::lock_guard lock(mutex_);
  taken.swap(filled_);
  return taken;
}

void BufferPool::give_back(std::uint8_t* data) noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.size() < kKeptFree) {
    free_.push_back(data);
  } else {
    std::free(data);
    --made_;
  }
}

void read_buffer(const FilledBuffer& buffer, NextRecord next, RecordReader& reader) {
  const std::uint8_t* end = buffer.data + buffer.valid;
  CUpti_Activity* record = nullptr;
  CUptiResult found = next(buffer.data, buffer.valid, &record);
  while (found == CUPTI_SUCCESS && record != nullptr) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(record);
    reader.read(record, static_cast<std::size_t>(end - at));
    found = next(buffer.data, buffer.valid, &record);
  }
  if (found != CUPTI_SUCCESS && found != CUPTI_ERROR_MAX_LIMIT_REACHED) {
    ++reader.losses().unreadable_buffers;
  }
}

}  // namespace fathom::record::cuda
