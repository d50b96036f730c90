#include "record/cuda/fake_cupti.h"

#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "record/cuda/record_buffer.h"

namespace fathom::record::cuda {
namespace {

struct Fake {
  std::recursive_mutex mutex;  // a callback may flush
  CUpti_BuffersCallbackRequestFunc wanted = nullptr;
  CUpti_BuffersCallbackCompleteFunc filled = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  std::set<std::pair<int, int>> enabled_calls;
  std::set<int> enabled_kinds;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::uint32_t correlation = 0;
  std::uint64_t callbacks = 0;
};
Fake& fake = *new Fake;
thread_local std::vector<std::uint64_t> external_ids;

bool behaves(const char* how) {
  const char* words = std::getenv("FAKE_CUPTI");
  return words != nullptr && std::string(words).find(how) != std::string::npos;
}

std::uint64_t now() {
  if (fake.clock != nullptr) return fake.clock();
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000ULL +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void hand_over() {
  if (fake.buffer != nullptr) fake.filled(nullptr, 0, fake.buffer, fake.size, fake.used);
  fake.buffer = nullptr;
}

template <typename Record>
void write(const Record& record) {
  const std::lock_guard lock(fake.mutex);
  if (!fake.enabled_kinds.contains(record.kind)) return;
  if (fake.buffer != nullptr && fake.used + sizeof record > fake.size) hand_over();
  if (fake.buffer == nullptr) {
    std::size_t most = 0;
    fake.wanted(&fake.buffer, &fake.size, &most);
    fake.used = 0;
    if (fake.buffer == nullptr) return;
  }
  std::memcpy(fake.buffer + fake.used, &record, sizeof record);
  fake.used += sizeof record;
}

constexpr CUpti_CallbackId kLaunch = 211;
constexpr CUpti_CallbackId kPoll = 10;
constexpr CUpti_CallbackId kGraphLaunch = 11;
constexpr CUpti_CallbackId kMalloc = 12;

const char* runtime_name(CUpti_CallbackId id) {
  switch (id) {
    case kLaunch:
      return "cudaLaunchKernel_v7000";
    case kPoll:
      return "cudaEventQuery_v3020";
    case kGraphLaunch:
      return "cudaGraphLaunch_v10000";
    case kMalloc:
      return "cudaMalloc_v3020";
    case CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020:
      return "cudaDeviceReset_v3020";
    default:
      return nullptr;
  }
}

// One runtime call: its callbacks, its records, and what it does in between.
template <typename Work>
void call(CUpti_CallbackId id, Work work) {
  std::uint32_t correlation = 0;
  bool seen = false;
  {
    const std::lock_guard lock(fake.mutex);
    correlation = ++fake.correlation;
    seen = fake.enabled_calls.contains({CUPTI_CB_DOMAIN_RUNTIME_API, static_cast<int>(id)});
    fake.callbacks += seen ? 2 : 0;
  }
  std::uint64_t data = 0;
  CUpti_CallbackData info{};
  info.correlationId = correlation;
  info.correlationData = &data;
  info.callbackSite = CUPTI_API_ENTER;
  if (seen) fake.callback(fake.user, CUPTI_CB_DOMAIN_RUNTIME_API, id, &info);
  const std::uint64_t start = now();
  work(correlation);
  if (!external_ids.empty()) write(scope_record(correlation, external_ids.back()));
  ApiRecord record = call_record(CUPTI_ACTIVITY_KIND_RUNTIME, id, correlation, start, now());
  record.threadId = static_cast<std::uint32_t>(gettid());
  write(record);
  info.callbackSite = CUPTI_API_EXIT;
  if (seen) fake.callback(fake.user, CUPTI_CB_DOMAIN_RUNTIME_API, id, &info);
}

}  // namespace
}  // namespace fathom::record::cuda

using namespace fathom::record::cuda;

extern "C" {

void fake_cuda_launch(const char* kernel) {
  call(kLaunch, [kernel](std::uint32_t correlation) {
    const std::uint64_t start = now();
    write(kernel_record(kernel, correlation, start, start + 1000));
  });
}

void fake_cuda_graph_launch(int kernels) {
  call(kGraphLaunch, [kernels](std::uint32_t correlation) {
    const std::uint64_t start = now();
    for (int i = 0; i < kernels; ++i) write(kernel_record("node", correlation, start, start + 10));
  });
}

void fake_cuda_malloc(std::uint64_t address, std::uint64_t bytes) {
  call(kMalloc, [=](std::uint32_t correlation) {
    write(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, address, bytes,
                        correlation, now()));
  });
}

void fake_cuda_poll() {
  call(kPoll, [](std::uint32_t) {});
}

void fake_cuda_device_reset() {
  call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020, [](std::uint32_t) {
    const std::lock_guard lock(fake.mutex);
    fake.used = 0;
  });
}

std::uint64_t fake_cuda_callbacks() {
  const std::lock_guard lock(fake.mutex);
  return fake.callbacks;
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_OF_THE_FAKE";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_name(id) : nullptr;
  return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* user) {
  if (behaves("busy")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  fake.callback = callback;
  fake.user = user;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&fake);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  const std::lock_guard lock(fake.mutex);
  fake.enabled_calls.insert({domain, static_cast<int>(id)});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (behaves("refuse")) return CUPTI_ERROR_UNKNOWN;
  const std::lock_guard lock(fake.mutex);
  fake.enabled_kinds.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc wanted,
                                           CUpti_BuffersCallbackCompleteFunc filled) {
  fake.wanted = wanted;
  fake.filled = filled;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  return next_record(buffer, valid, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = behaves("drop") ? 3 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED && behaves("hang")) sleep(600);
  const std::lock_guard lock(fake.mutex);
  hand_over();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                   std::uint64_t id) {
  external_ids.push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t*) {
  if (external_ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  external_ids.pop_back();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  if (behaves("clock")) return CUPTI_ERROR_UNKNOWN;
  fake.clock = clock;
  return CUPTI_SUCCESS;
}
}
