#include "devices/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <initializer_list>

namespace fathom::devices::nvml {
namespace {

// The first of these that the driver has: the names of newer versions have a suffix.
template <typename Function>
const char* find(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* const address = ::dlsym(library, name)) {
      function.set(address);
      return name;
    }
  }
  return nullptr;
}

// The element of the process lists has no version in it; what else a driver has tells its size.
std::size_t process_element(void* library, std::string_view function) {
  if (!function.ends_with("_v3") && !function.ends_with("_v2")) return sizeof(ProcessV1);
  const bool is_long = function.ends_with("_v3") &&
                       ::dlsym(library, "nvmlDeviceGetConfComputeMemSizeInfo") != nullptr &&
                       ::dlsym(library, "nvmlDeviceGetRunningProcessDetailList") == nullptr;
  return is_long ? kLongProcessBytes : sizeof(ProcessV2);
}

}  // namespace

Library::Library(void* handle) : handle_(handle) {
  find(handle, init, {"nvmlInit_v2", "nvmlInit"});
  find(handle, shutdown, {"nvmlShutdown"});
  error_text_ = reinterpret_cast<const char* (*)(int)>(::dlsym(handle, "nvmlErrorString"));
  find(handle, driver_version, {"nvmlSystemGetDriverVersion"});
  find(handle, count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(handle, by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(handle, by_pci, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"});
  find(handle, name, {"nvmlDeviceGetName"});
  find(handle, uuid, {"nvmlDeviceGetUUID"});
  find(handle, pci, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  find(handle, memory_v1, {"nvmlDeviceGetMemoryInfo"});
  find(handle, memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find(handle, utilization, {"nvmlDeviceGetUtilizationRates"});
  find(handle, temperature, {"nvmlDeviceGetTemperature"});
  find(handle, temperature_threshold, {"nvmlDeviceGetTemperatureThreshold"});
  find(handle, clock, {"nvmlDeviceGetClockInfo"});
  find(handle, max_clock, {"nvmlDeviceGetMaxClockInfo"});
  find(handle, power, {"nvmlDeviceGetPowerUsage"});
  find(handle, power_limit,
       {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
  find(handle, fan, {"nvmlDeviceGetFanSpeed"});
  find(handle, energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(handle, throttle,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(handle, encoder, {"nvmlDeviceGetEncoderUtilization"});
  find(handle, decoder, {"nvmlDeviceGetDecoderUtilization"});
  find(handle, mig_mode, {"nvmlDeviceGetMigMode"});
  find(handle, ecc, {"nvmlDeviceGetTotalEccErrors"});
  find(handle, fields, {"nvmlDeviceGetFieldValues"});
  const char* const processes =
      find(handle, compute_processes,
           {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
            "nvmlDeviceGetComputeRunningProcesses"});
  // The other lists only in the same version, so that their elements are as long.
  if (processes != nullptr) {
    const std::string_view found = processes;
    const std::string suffix = found.ends_with("_v3") || found.ends_with("_v2")
                                   ? std::string(found.substr(found.size() - 3))
                                   : "";
    find(handle, graphics_processes, {("nvmlDeviceGetGraphicsRunningProcesses" + suffix).c_str()});
    find(handle, mps_processes, {("nvmlDeviceGetMPSComputeRunningProcesses" + suffix).c_str()});
    process_bytes = process_element(handle, found);
  }
  find(handle, process_utilization, {"nvmlDeviceGetProcessUtilization"});
  find(handle, most_mig_devices, {"nvmlDeviceGetMaxMigDeviceCount"});
  find(handle, mig_device, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  find(handle, create_events, {"nvmlEventSetCreate"});
  find(handle, free_events, {"nvmlEventSetFree"});
  find(handle, supported_events, {"nvmlDeviceGetSupportedEventTypes"});
  find(handle, register_events, {"nvmlDeviceRegisterEvents"});
  find(handle, wait_for_event, {"nvmlEventSetWait_v2", "nvmlEventSetWait"});
}

Library::~Library() {
  ::dlclose(handle_);
}

std::string Library::text_of(int result) const {
  const char* const text = error_text_ == nullptr ? nullptr : error_text_(result);
  return text == nullptr ? fmt::format("NVML error {}", result) : text;
}

std::shared_ptr<const Library> open_library() {
  // Not of a program that has more rights than who started it.
  const char* const chosen = ::secure_getenv("FATHOM_NVML");
  void* handle = nullptr;
  if (chosen != nullptr && *chosen != '\0') {
    handle = ::dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  } else {
    handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) handle = ::dlopen("libnvidia-ml.so", RTLD_NOW | RTLD_LOCAL);
  }
  const auto library = handle == nullptr ? nullptr : std::make_shared<const Library>(handle);
  // What failed last is kept for the thread until it was told and asked for again.
  while (::dlerror() != nullptr) {
  }
  const bool is_whole = library && library->init && library->shutdown && library->count;
  return is_whole ? library : nullptr;
}

}  // namespace fathom::devices::nvml
