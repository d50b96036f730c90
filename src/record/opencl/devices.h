#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <mutex>

#include "record/opencl/clock.h"

namespace fathom::record::opencl {

// A device that the program uses, numbered in the order it was first seen. Never destroyed.
struct Device {
  cl_device_id handle = nullptr;
  cl_platform_id platform = nullptr;
  std::int32_t index = 0;
  const char* name = "";
  std::mutex clock_lock;
  DeviceClock clock;
};

// Null where memory ran out.
Device* device_of(cl_device_id handle) noexcept;
Device* first_device_of(cl_context context) noexcept;

void lock_devices() noexcept;  // around a fork
void unlock_devices() noexcept;

}  // namespace fathom::record::opencl
