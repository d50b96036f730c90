#pragma once

#include <CL/cl.h>

namespace fathom::record::opencl {

// Extension functions that enqueue, allocate or make queues. Programs get them by name, from the
// driver itself, so they would pass us by; in their place we hand out ours.
enum class Extension : unsigned char {
  create_queue,
  enqueue_command_buffer,
  host_alloc,
  device_alloc,
  shared_alloc,
  free,
  blocking_free,
  memcpy,
  mem_fill,
  migrate,
  count
};

// The driver's function: each platform has its own.
void* original(Extension which, cl_platform_id platform) noexcept;

// Our function in its place.
struct ExtensionEntry {
  const char* name = "";
  void* ours = nullptr;
};
ExtensionEntry extension_entry(Extension which) noexcept;

}  // namespace fathom::record::opencl
