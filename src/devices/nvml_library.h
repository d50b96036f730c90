#pragma once

#include <memory>
#include <string>

#include "devices/nvml_abi.h"

namespace fathom::devices::nvml {

// A function of the library. One that this driver does not have says so when it is called.
template <typename... Args>
class Function {
 public:
  explicit operator bool() const { return address_ != nullptr; }
  int operator()(Args... args) const {
    return address_ == nullptr ? static_cast<int>(kFunctionNotFound) : address_(args...);
  }
  void set(void* address) { address_ = reinterpret_cast<int (*)(Args...)>(address); }

 private:
  int (*address_)(Args...) = nullptr;
};

// The library, open while this lives. PCIe throughput is not among its functions on purpose: the
// driver measures for 20 ms at each call.
struct Library {
  explicit Library(void* handle);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  std::string text_of(int result) const;  // "GPU is lost"

  template <typename T>
  using Get = Function<Device, T*>;
  using Processes = Function<Device, std::uint32_t*, void*>;

  Function<> init, shutdown;
  Function<char*, unsigned> driver_version;
  Function<unsigned*> count;
  Function<unsigned, Device*> by_index;
  Function<const char*, Device*> by_pci;
  Function<Device, char*, unsigned> name, uuid;
  Get<PciInfo> pci;
  Get<MemoryV1> memory_v1;
  Get<MemoryV2> memory_v2;
  Get<Utilization> utilization;
  Function<Device, int, unsigned*> temperature, temperature_threshold, clock, max_clock;
  Get<unsigned> power, power_limit, fan;
  Get<std::uint64_t> energy, throttle;
  Function<Device, unsigned*, unsigned*> encoder, decoder, mig_mode;
  Function<Device, int, int, std::uint64_t*> ecc;
  Function<Device, int, FieldValue*> fields;
  Processes compute_processes, graphics_processes, mps_processes;
  Function<Device, ProcessSample*, unsigned*, std::uint64_t> process_utilization;
  Get<unsigned> most_mig_devices;
  Function<Device, unsigned, Device*> mig_device;
  Function<EventSet*> create_events;
  Function<EventSet> free_events;
  Get<std::uint64_t> supported_events;
  Function<Device, std::uint64_t, EventSet> register_events;
  Function<EventSet, EventData*, unsigned> wait_for_event;

  std::size_t process_bytes = 0;  // of an element of the process lists

 private:
  void* handle_;
  const char* (*error_text_)(int) = nullptr;
};

// Opens $FATHOM_NVML or, where that is not set, libnvidia-ml.so.1; null where there is none.
std::shared_ptr<const Library> open_library();

}  // namespace fathom::devices::nvml
