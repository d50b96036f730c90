#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "fathom/activity.h"
#include "record/cuda/cupti_records.h"

// One CUPTI record → one activity. Pure: times stay on CUPTI's clock and no scope is looked up;
// RecordReader does both. No function here needs a driver or libcupti.
namespace fathom::record::cuda {

// CUPTI's name of an API function, nullptr where it knows none: cuptiGetCallbackName, or a test's.
using CallName = const char* (*)(CUpti_CallbackDomain domain, CUpti_CallbackId id);

// Kernel names as their author wrote them. Demangled once each, found by their text: CUPTI may
// reuse the memory of a name when its module is unloaded.
class KernelNames {
 public:
  const std::string& readable(const char* mangled);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> names_;
};

// "cudaLaunchKernel_v7000" is known to everybody as "cudaLaunchKernel".
std::string_view without_version(std::string_view call);

GpuActivity activity_of(const KernelRecord& record, KernelNames& names);
GpuActivity activity_of(const CopyRecord& record);
GpuActivity activity_of(const PeerCopyRecord& record);
GpuActivity activity_of(const FillRecord& record);
GpuActivity activity_of(const ApiRecord& record, CallName call_name);
GpuActivity activity_of(const SyncRecord& record);
inline constexpr std::string_view kStreamWait = "Stream Wait Event";  // a wait on the GPU itself
// Time that CUPTI or the driver took for itself: counted as time inside the runtime.
GpuActivity activity_of(const OverheadRecord& record);
// A whole graph as one piece of work, where its kernels are not recorded one by one.
GpuActivity activity_of(const GraphRecord& record);

// bytes > 0 for an allocation, < 0 for a release.
MemoryRecord memory_record_of(const MemoryRecordOfCupti& record);
bool is_device_memory(
    const MemoryRecordOfCupti& record);  // not pageable or pinned memory of the host

// Calls that only ask: they launch nothing and allocate nothing, and programs poll with them.
bool only_asks(std::string_view call);

}  // namespace fathom::record::cuda
