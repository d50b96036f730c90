#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <cstdint>

namespace fathom::record::opencl {

// Device memory that is gone once a command is over (clEnqueueSVMFree).
struct FreedMemory;

// Records the frees at this time, and deletes the list.
void report_frees(FreedMemory* frees, std::int64_t time_ns) noexcept;

// The command was refused: what was to be freed is alive. Deletes the list.
void keep_alive(FreedMemory* frees) noexcept;

// Memory named by its address: SVM and the like. `api` is the call that made it.
void address_allocated(cl_context context, const void* address, std::size_t bytes,
                       const char* api) noexcept;
void address_freed(const void* address) noexcept;

// The addresses are free from now on as far as new allocations are concerned; their release is
// reported by report_frees. Null where none of them is known.
FreedMemory* take_freed(const void* const* addresses, std::size_t count) noexcept;

// A memory object that the program has just been given. Buffers that are part of another, and
// images that stand on a buffer, are not new memory.
void object_created(cl_context context, cl_mem object, const char* api) noexcept;

std::size_t image_element_bytes(cl_mem image) noexcept;  // 0 where unknown
std::size_t object_bytes(cl_mem object) noexcept;

void lock_memory() noexcept;  // around a fork
void unlock_memory() noexcept;

}  // namespace fathom::record::opencl
