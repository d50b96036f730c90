#pragma once

#include <cupti.h>

#include <optional>
#include <string>

namespace fathom::record::cuda {

// The functions of CUPTI that the recorder calls, found at run time. libfathom_cuda.so is not
// linked with libcupti: the CUDA driver loads it into programs on machines that may have another
// CUPTI or none, and a library that cannot be loaded is the program's first error message.
// Members carry CUPTI's names without the prefix, in our case.
struct CuptiApi {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiActivityEnable) activity_enable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) get_num_dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_external_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_external_id = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamp_callback = nullptr;

  std::uint32_t version = 0;  // as cuptiGetVersion says
};

// Finds CUPTI: the one named by FATHOM_CUPTI; one that the program has loaded already, for two in
// one process do not work; the system's; the one this was built with. Empty, with the reason, where
// there is none that is new enough.
std::optional<CuptiApi> load_cupti(std::string& problem);

}  // namespace fathom::record::cuda
