#include "record/cuda/cupti_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/shared_library.h"
#include "record/cuda/cupti_records.h"

namespace fathom::record::cuda {
namespace {

constexpr std::array<const char*, 3> kNames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

void* open_library() {
  if (const char* chosen = std::getenv("FATHOM_CUPTI"); chosen != nullptr && *chosen != '\0') {
    return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  }
  return base::open_library(kNames, FATHOM_BUILT_WITH_CUPTI);
}

bool find_all(void* library, CuptiApi& api) {
  return base::find_function(library, "cuptiGetVersion", api.get_version) &&
         base::find_function(library, "cuptiGetResultString", api.get_result_string) &&
         base::find_function(library, "cuptiGetTimestamp", api.get_timestamp) &&
         base::find_function(library, "cuptiGetCallbackName", api.get_callback_name) &&
         base::find_function(library, "cuptiSubscribe", api.subscribe) &&
         base::find_function(library, "cuptiEnableCallback", api.enable_callback) &&
         base::find_function(library, "cuptiActivityEnable", api.activity_enable) &&
         base::find_function(library, "cuptiActivityRegisterCallbacks", api.register_callbacks) &&
         base::find_function(library, "cuptiActivityGetNextRecord", api.get_next_record) &&
         base::find_function(library, "cuptiActivityGetNumDroppedRecords",
                             api.get_num_dropped_records) &&
         base::find_function(library, "cuptiActivityFlushAll", api.flush_all) &&
         base::find_function(library, "cuptiActivityPushExternalCorrelationId",
                             api.push_external_id) &&
         base::find_function(library, "cuptiActivityPopExternalCorrelationId",
                             api.pop_external_id) &&
         base::find_function(library, "cuptiSetThreadIdType", api.set_thread_id_type) &&
         base::find_function(library, "cuptiActivityRegisterTimestampCallback",
                             api.register_timestamp_callback);
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
