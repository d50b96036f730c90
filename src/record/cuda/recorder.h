#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "record/cuda/activity_buffers.h"
#include "record/cuda/cupti_api.h"
#include "record/cuda/launch_links.h"
#include "record/cuda/record_reader.h"

namespace fathom::record::cuda {

// The recorder of one process: what CUPTI's callbacks write to and its own thread reads from. Made
// once, never destroyed, because programs call CUDA from static destructors too. In a child of fork
// it is off: CUDA does not work there, and locks may be held by threads that are not there.
class Recorder {
 public:
  explicit Recorder(const CuptiApi& api);

  // Asks CUPTI for everything that is recorded and starts the thread that reads it. What CUPTI
  // refuses is said in one line on standard error; false where that is all of it.
  bool start();

  // The last flush. Waits two seconds at most, whatever CUPTI does, then says what was lost.
  void finish() noexcept;

  // CUPTI's callbacks, on whatever thread it makes them.
  void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
               const CUpti_CallbackData& call) noexcept;
  std::uint8_t* on_buffer_wanted() noexcept;
  void on_buffer_filled(std::uint8_t* buffer, std::size_t valid) noexcept;
  void switch_off() noexcept { off_.store(true, std::memory_order_relaxed); }

 private:
  bool worked(CUptiResult result) noexcept;  // counts failures and keeps the first
  std::string failures_text() const;
  void use_our_clock();
  std::size_t enable_kinds();
  void enable_callbacks(CUpti_CallbackDomain domain);
  bool start_thread() noexcept;
  void run() noexcept;
  void flush(CUpti_ActivityFlag flag);
  void read_filled();
  void say_losses() noexcept;

  const CuptiApi api_;
  BufferPool buffers_;
  LaunchLinks links_;
  RecordReader reader_;  // of the recorder's own thread, until it has finished
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool same_clock_ = false;

  std::atomic<bool> off_ = false;
  std::atomic<std::uint64_t> failures_ = 0;
  std::atomic<int> first_failure_ = CUPTI_SUCCESS;
  std::atomic<std::uint32_t> waiting_buffers_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // these are under the mutex
  bool finished_ = false;
};

}  // namespace fathom::record::cuda
