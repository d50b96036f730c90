#include "record/opencl/devices.h"

#include <array>
#include <deque>

#include "record/opencl/driver.h"
#include "record/opencl/forever.h"
#include "record/opencl/handle_map.h"
#include "record/opencl/names.h"
#include "record/opencl/sink.h"

namespace fathom::record::opencl {
namespace {

struct Devices {
  std::mutex lock;
  std::deque<Device> all;  // its elements never move
  HandleMap<Device*> by_handle;
};

Forever<Devices> devices;

const char* name_of(cl_device_id handle) noexcept {
  std::array<char, 256> name = {};
  if (driver.clGetDeviceInfo(handle, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr) !=
      CL_SUCCESS) {
    return "OpenCL device";
  }
  return intern(name.data());
}

}  // namespace

Device* device_of(cl_device_id handle) noexcept {
  if (handle == nullptr) return nullptr;
  if (Device* const known = devices->by_handle.find(handle); known != nullptr) return known;
  const std::lock_guard guard(devices->lock);
  if (Device* const known = devices->by_handle.find(handle); known != nullptr) return known;
  Device* device = nullptr;
  try {
    device = &devices->all.emplace_back();
  } catch (...) {
    lost(Unrecorded::no_memory);
    return nullptr;
  }
  device->handle = handle;
  device->index = static_cast<std::int32_t>(devices->all.size()) - 1;
  device->name = name_of(handle);
  ask(driver.clGetDeviceInfo, handle, CL_DEVICE_PLATFORM, device->platform);
  devices->by_handle.set(handle, device);
  device_found(device->index, device->name);
  return device;
}

Device* first_device_of(cl_context context) noexcept {
  std::array<cl_device_id, 64> handles = {};
  std::size_t size = 0;
  if (driver.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof handles, handles.data(), &size) !=
      CL_SUCCESS) {
    return nullptr;
  }
  return device_of(handles[0]);
}

void lock_devices() noexcept {
  devices->lock.lock();
  devices->by_handle.lock();
  for (Device& device : devices->all) device.clock_lock.lock();
}

void unlock_devices() noexcept {
  for (Device& device : devices->all) device.clock_lock.unlock();
  devices->by_handle.unlock();
  devices->lock.unlock();
}

}  // namespace fathom::record::opencl
