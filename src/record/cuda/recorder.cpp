#include "record/cuda/recorder.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "record/cuda/profiler_link.h"

// While the program runs: callbacks, the recorder's thread, the end. recorder_start.cpp is before.
namespace fathom::record::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFlushEvery =
    std::chrono::milliseconds(500);  // a program that is killed loses less than a second
constexpr auto kLongestFinish = std::chrono::seconds(2);
constexpr std::uint32_t kReadEarlyAt = 16;  // filled buffers that do not wait for the next flush

std::int64_t thread_id() {
  thread_local const std::int64_t id = gettid();
  return id;
}

// Calls after which CUPTI can no longer deliver what a context did.
bool ends_a_context(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    return id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020;
  }
  return id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2 ||
         id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2 ||
         id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2;
}

// The pair whose two readings of our clock lie closest together: nobody was put to sleep between.
ClockPair read_both_clocks(const CuptiApi& api) {
  ClockPair best;
  std::int64_t best_gap = INT64_MAX;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::uint64_t cupti_ns = 0;
    const std::int64_t before = profiler_now_ns();
    if (api.get_timestamp(&cupti_ns) != CUPTI_SUCCESS) continue;
    const std::int64_t gap = profiler_now_ns() - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    best = {static_cast<std::int64_t>(cupti_ns), before + gap / 2};
  }
  return best;
}

}  // namespace

bool Recorder::worked(CUptiResult result) noexcept {
  if (result == CUPTI_SUCCESS) return true;
  int none = CUPTI_SUCCESS;
  first_failure_.compare_exchange_strong(none, static_cast<int>(result));
  failures_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// The link is noted here, before anything of the call can run, because records of GPU work may
// arrive before those of the call that launched it. The external id says the same in CUPTI's own
// records. Only calls that can launch or allocate something come here (enable_callbacks).
void Recorder::on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                       const CUpti_CallbackData& call) noexcept {
  if (off_.load(std::memory_order_relaxed)) return;
  if (call.callbackSite == CUPTI_API_ENTER) {
    if (ends_a_context(domain, id)) worked(api_.flush_all(0));
    const ScopeRef scope = innermost_scope();
    links_.note(call.correlationId, {scope, thread_id()});
    *call.correlationData = scope && worked(api_.push_external_id(kScopeIds, scope.instance));
  } else if (*call.correlationData != 0) {
    worked(api_.pop_external_id(kScopeIds, nullptr));
  }
}

std::uint8_t* Recorder::on_buffer_wanted() noexcept {
  return off_.load(std::memory_order_relaxed) ? nullptr : buffers_.request();
}

void Recorder::on_buffer_filled(std::uint8_t* buffer, std::size_t valid) noexcept {
  if (off_.load(std::memory_order_relaxed)) return;
  buffers_.complete(buffer, valid);
  if (waiting_buffers_.fetch_add(1) + 1 >= kReadEarlyAt) changed_.notify_one();
}

void Recorder::run() noexcept {
  Clock::time_point next_flush = Clock::now() + kFlushEvery;
  bool last = false;
  while (!last) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, next_flush,
                          [&] { return stopping_ || waiting_buffers_ >= kReadEarlyAt; });
      last = stopping_;
    }
    try {
      if (last || Clock::now() >= next_flush) {
        flush(last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : CUPTI_ACTIVITY_FLAG_NONE);
        next_flush = Clock::now() + kFlushEvery;
      }
      read_filled();
    } catch (const std::exception&) {
      ++reader_.losses().unreadable_buffers;  // no memory to read it
    }
  }
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void Recorder::flush(CUpti_ActivityFlag flag) {
  worked(api_.flush_all(static_cast<std::uint32_t>(flag)));
  // After the flush: what it delivered lies before this pair.
  if (!same_clock_) reader_.clock().add(read_both_clocks(api_));
  std::size_t dropped = 0;
  if (worked(api_.get_num_dropped_records(nullptr, 0, &dropped)))
    reader_.losses().dropped += dropped;
}

void Recorder::read_filled() {
  waiting_buffers_ = 0;
  for (const FilledBuffer& buffer : buffers_.take_filled()) {
    read_buffer(buffer, api_.get_next_record, reader_);
    buffers_.give_back(buffer.data);
  }
}

void Recorder::finish() noexcept {
  if (off_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  if (changed_.wait_for(lock, kLongestFinish, [&] { return finished_; })) {
    say_losses();
  } else {
    std::fputs("fathom: CUDA: CUPTI did not return the last records within 2 s\n", stderr);
  }
}

void Recorder::say_losses() noexcept {
  const Losses& lost = reader_.losses();
  if (lost.total() == 0) return;
  std::fprintf(
      stderr,
      "fathom: CUDA: lost: %llu records dropped by CUPTI, %llu without times, %llu unfinished, "
      "%llu unknown, %llu cut off, %llu buffers unreadable\n",
      static_cast<unsigned long long>(lost.dropped), static_cast<unsigned long long>(lost.untimed),
      static_cast<unsigned long long>(lost.unfinished),
      static_cast<unsigned long long>(lost.unknown), static_cast<unsigned long long>(lost.cut),
      static_cast<unsigned long long>(lost.unreadable_buffers));
}

}  // namespace fathom::record::cuda
