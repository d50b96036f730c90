#include "record/opencl/memory.h"

#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "record/opencl/calls.h"
#include "record/opencl/clock.h"
#include "record/opencl/devices.h"
#include "record/opencl/driver.h"
#include "record/opencl/forever.h"
#include "record/opencl/handle_map.h"
#include "record/opencl/sink.h"

namespace fathom::record::opencl {

struct FreedMemory {
  struct Free {
    const void* address = nullptr;
    QueuedCommand allocation;
  };
  std::vector<Free> frees;
};

namespace {

struct Memory {
  std::mutex lock;
  std::unordered_map<const void*, QueuedCommand> addresses;  // allocations that are alive
  HandleMap<std::size_t> element_bytes;                      // of images
};

Forever<Memory> memory;

QueuedCommand allocation(cl_context context, const void* address, std::size_t bytes,
                         const char* api) {
  const Device* const device = first_device_of(context);
  QueuedCommand command = {.kind = Kind::allocation,
                           .device = device == nullptr ? -1 : device->index,
                           .thread = thread_id(),
                           .name = api,
                           .scope = open_scope(),
                           .bytes = bytes,
                           .address = reinterpret_cast<std::uintptr_t>(address)};
  command.start_ns = command.end_ns = now_ns();
  return command;
}

void report_free(QueuedCommand command, std::int64_t time_ns) noexcept {
  command.kind = Kind::free;
  command.start_ns = command.end_ns = time_ns;
  command.thread = thread_id();
  finished(command);
}

// The object is gone: its last reference, and whatever the driver still needed it for.
void CL_CALLBACK object_gone(cl_mem object, void* user_data) noexcept {
  auto* const command = static_cast<QueuedCommand*>(user_data);
  memory->element_bytes.set(object, 0);
  if (command->bytes != kNoBytes) report_free(*command, now_ns());
  delete command;
}

bool is_new_memory(cl_mem object) noexcept {
  cl_mem parent = nullptr;
  const cl_int asked = ask(driver.clGetMemObjectInfo, object, CL_MEM_ASSOCIATED_MEMOBJECT, parent);
  if (asked == CL_SUCCESS && parent != nullptr) return false;
  cl_bool is_svm = CL_FALSE;  // a buffer over memory that clSVMAlloc gave
  ask(driver.clGetMemObjectInfo, object, CL_MEM_USES_SVM_POINTER, is_svm);
  return is_svm == CL_FALSE;
}

}  // namespace

std::size_t object_bytes(cl_mem object) noexcept {
  std::size_t bytes = 0;
  ask(driver.clGetMemObjectInfo, object, CL_MEM_SIZE, bytes);
  return bytes;
}

std::size_t image_element_bytes(cl_mem image) noexcept {
  if (const auto known = memory->element_bytes.find(image); known != 0) return known;
  std::size_t bytes = 0;
  ask(driver.clGetImageInfo, image, CL_IMAGE_ELEMENT_SIZE, bytes);
  return bytes;
}

void object_created(cl_context context, cl_mem object, const char* api) noexcept {
  QueuedCommand made = allocation(context, object, object_bytes(object), api);
  const bool is_new = is_new_memory(object);
  made.is_object = true;
  if (!is_new) made.bytes = kNoBytes;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  ask(driver.clGetMemObjectInfo, object, CL_MEM_TYPE, type);
  const bool is_image = type != CL_MEM_OBJECT_BUFFER && type != CL_MEM_OBJECT_PIPE;
  if (!is_new && !is_image) return;

  auto* const kept = new (std::nothrow) QueuedCommand(made);
  if (kept == nullptr) {
    lost(Unrecorded::no_memory);
    return;
  }
  if (driver.clSetMemObjectDestructorCallback(object, object_gone, kept) != CL_SUCCESS) {
    delete kept;
    lost(Unrecorded::untracked_memory);
    return;
  }
  if (is_image) memory->element_bytes.set(object, image_element_bytes(object));
  if (is_new) finished(made);
}

void address_allocated(cl_context context, const void* address, std::size_t bytes,
                       const char* api) noexcept {
  if (address == nullptr) return;
  const QueuedCommand command = allocation(context, address, bytes, api);
  try {
    const std::lock_guard guard(memory->lock);
    memory->addresses[address] = command;
  } catch (...) {
    lost(Unrecorded::no_memory);
    return;
  }
  finished(command);
}

void address_freed(const void* address) noexcept {
  QueuedCommand command;
  {
    const std::lock_guard guard(memory->lock);
    const auto found = memory->addresses.find(address);
    if (found == memory->addresses.end()) return;
    command = found->second;
    memory->addresses.erase(found);
  }
  report_free(command, now_ns());
}

FreedMemory* take_freed(const void* const* addresses, std::size_t count) noexcept {
  auto* const freed = new (std::nothrow) FreedMemory;
  if (freed == nullptr) return nullptr;
  const std::lock_guard guard(memory->lock);
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = memory->addresses.find(addresses[i]);
    if (found == memory->addresses.end()) continue;
    try {
      freed->frees.push_back({found->first, found->second});
    } catch (...) {
      break;
    }
    memory->addresses.erase(found);
  }
  return freed;
}

void report_frees(FreedMemory* frees, std::int64_t time_ns) noexcept {
  for (const auto& free : frees->frees) report_free(free.allocation, time_ns);
  delete frees;
}

void keep_alive(FreedMemory* frees) noexcept {
  {
    const std::lock_guard guard(memory->lock);
    for (const auto& free : frees->frees) {
      try {
        memory->addresses[free.address] = free.allocation;
      } catch (...) {
        lost(Unrecorded::no_memory);
      }
    }
  }
  delete frees;
}

void lock_memory() noexcept {
  memory->lock.lock();
  memory->element_bytes.lock();
}

void unlock_memory() noexcept {
  memory->element_bytes.unlock();
  memory->lock.unlock();
}

}  // namespace fathom::record::opencl
