#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <cstdio>
#include <exception>
#include <thread>

#include "record/cuda/driver_check.h"
#include "record/cuda/profiler_link.h"
#include "record/cuda/recorder.h"

// What is asked of CUPTI before the program's first CUDA call goes on.
namespace fathom::record::cuda {
namespace {

// Not KERNEL, which makes kernels wait for each other. Not GRAPH_TRACE, which hides the kernels of
// graphs.
constexpr std::array kKinds = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_MEMORY2,
    CUPTI_ACTIVITY_KIND_OVERHEAD,          CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
};
constexpr CUpti_CallbackId kMostCalls = 4096;  // well beyond what any CUPTI numbers

// For those of CUPTI's callbacks that carry no data of ours. Set once, before they are registered.
Recorder* the_recorder = nullptr;
decltype(&cuptiGetCallbackName) get_callback_name = nullptr;

const char* call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  return get_callback_name(domain, id, &name) == CUPTI_SUCCESS ? name : nullptr;
}

std::uint64_t our_clock() {
  return static_cast<std::uint64_t>(profiler_now_ns());
}

void buffer_wanted(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = the_recorder->on_buffer_wanted();
  *size = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
  *most_records = 0;  // as many as fit
}

void buffer_filled(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  the_recorder->on_buffer_filled(buffer, valid);
}

void called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* call) {
  static_cast<Recorder*>(self)->on_call(domain, id, *static_cast<const CUpti_CallbackData*>(call));
}

}  // namespace

Recorder::Recorder(const CuptiApi& api) : api_(api), reader_(call_name, links_, profiler_sink()) {
  get_callback_name = api.get_callback_name;
  the_recorder = this;
  reader_.frees_overhead_data(api.version >= 130000);
}

bool Recorder::start() {
  use_our_clock();
  worked(api_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  const bool has_buffers = worked(api_.register_callbacks(buffer_wanted, buffer_filled));
  const std::size_t enabled = has_buffers ? enable_kinds() : 0;
  if (enabled > 0 && worked(api_.subscribe(&subscriber_, called, this))) {
    enable_callbacks(CUPTI_CB_DOMAIN_RUNTIME_API);
    enable_callbacks(CUPTI_CB_DOMAIN_DRIVER_API);
  }
  const bool started = enabled > 0 && start_thread();
  if (!started || failures_ > 0) {
    fmt::print(stderr, "fathom: CUDA: {}{}\n",
               started ? "recorded in part: " : "not recorded: ", failures_text());
  }
  return started;
}

std::string Recorder::failures_text() const {
  const auto first = static_cast<CUptiResult>(first_failure_.load());
  if (first == CUPTI_SUCCESS) return "no thread could be started";
  if (first == CUPTI_ERROR_UNKNOWN) {  // all it says where there is no driver
    if (const DriverCheck driver = check_cuda_driver(); !driver.found) return driver.line;
  }
  const char* text = nullptr;
  if (api_.get_result_string(first, &text) != CUPTI_SUCCESS || text == nullptr) text = "error";
  const bool other_tool = first == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  return fmt::format("CUPTI refused {} of the calls that ask for it, first with {} ({}){}",
                     failures_.load(), text, static_cast<int>(first),
                     other_tool ? ": another profiler is attached" : "");
}

void Recorder::use_our_clock() {
  same_clock_ = api_.register_timestamp_callback(our_clock) == CUPTI_SUCCESS;
}

std::size_t Recorder::enable_kinds() {
  std::size_t enabled = 0;
  for (const CUpti_ActivityKind kind : kKinds)
    enabled += worked(api_.activity_enable(kind)) ? 1 : 0;
  return enabled;
}

void Recorder::enable_callbacks(CUpti_CallbackDomain domain) {
  for (CUpti_CallbackId id = 1; id < kMostCalls; ++id) {
    const char* name = call_name(domain, id);
    if (name == nullptr || only_asks(name)) continue;
    if (!worked(api_.enable_callback(1, subscriber_, domain, id))) return;
  }
}

bool Recorder::start_thread() noexcept {
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread([this] { run(); }).detach();
  } catch (const std::exception&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace fathom::record::cuda
