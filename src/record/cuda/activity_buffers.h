#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "record/cuda/record_reader.h"

namespace fathom::record::cuda {

// A buffer that CUPTI has filled, up to `valid` bytes.
struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid = 0;
};

// The buffers that CUPTI writes records to: given out empty, taken back full, read later by one
// thread, used again. Memory is bounded: when too many are out, the answer is no, and CUPTI counts
// what it drops. Any thread.
class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = 512 * 1024;

  explicit BufferPool(std::size_t most_buffers = 512);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  std::uint8_t* request() noexcept;  // nullptr when there is none
  void complete(std::uint8_t* data, std::size_t valid) noexcept;
  std::vector<FilledBuffer> take_filled();  // in the order they came
  void give_back(std::uint8_t* data) noexcept;

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::vector<std::uint8_t*> free_;  // both have room for all: nothing is allocated in a callback
  std::vector<FilledBuffer> filled_;
  std::size_t made_ = 0;  // free, filled or with CUPTI
};

// Steps through a buffer: cuptiActivityGetNextRecord, or a test's.
using NextRecord = CUptiResult (*)(std::uint8_t* buffer, std::size_t valid,
                                   CUpti_Activity** record);

// Reads all records of a buffer, up to the first that `next` cannot make out.
void read_buffer(const FilledBuffer& buffer, NextRecord next, RecordReader& reader);

}  // namespace fathom::record::cuda
