#include "record/cuda/cupti_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "record/cuda/cupti_records.h"

namespace fathom::record::cuda {
namespace {

constexpr std::array<const char*, 3> kNames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

void* open_library() {
  if (const char* chosen = std::getenv("FATHOM_CUPTI"); chosen != nullptr && *chosen != '\0') {
    return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  }
  for (const char* name : kNames) {
    if (void* loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
  }
  for (const char* name : kNames) {
    if (void* system = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return system;
  }
  return dlopen(FATHOM_BUILT_WITH_CUPTI, RTLD_NOW | RTLD_LOCAL);
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, CuptiApi& api) {
  return find(library, "cuptiGetVersion", api.get_version) &&
         find(library, "cuptiGetResultString", api.get_result_string) &&
         find(library, "cuptiGetTimestamp", api.get_timestamp) &&
         find(library, "cuptiGetCallbackName", api.get_callback_name) &&
         find(library, "cuptiSubscribe", api.subscribe) &&
         find(library, "cuptiEnableCallback", api.enable_callback) &&
         find(library, "cuptiActivityEnable", api.activity_enable) &&
         find(library, "cuptiActivityRegisterCallbacks", api.register_callbacks) &&
         find(library, "cuptiActivityGetNextRecord", api.get_next_record) &&
         find(library, "cuptiActivityGetNumDroppedRecords", api.get_num_dropped_records) &&
         find(library, "cuptiActivityFlushAll", api.flush_all) &&
         find(library, "cuptiActivityPushExternalCorrelationId", api.push_external_id) &&
         find(library, "cuptiActivityPopExternalCorrelationId", api.pop_external_id) &&
         find(library, "cuptiSetThreadIdType", api.set_thread_id_type) &&
         find(library, "cuptiActivityRegisterTimestampCallback", api.register_timestamp_callback);
}

}  // namespace

std::optional<CuptiApi> load_cupti(std::string& problem) {
  void* library = open_library();
  if (library == nullptr) {
    problem = "libcupti.so not found; set FATHOM_CUPTI=/path/to/libcupti.so";
    return std::nullopt;
  }
  CuptiApi api;
  if (!find_all(library, api) || api.get_version(&api.version) != CUPTI_SUCCESS ||
      api.version < kOldestCupti) {
    problem = fmt::format("libcupti.so is older than CUDA 12.0's (API version {})", api.version);
    return std::nullopt;
  }
  return api;
}

}  // namespace fathom::record::cuda
