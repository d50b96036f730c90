// Shared virtual memory: its allocations and its commands.

#include "record/opencl/enqueue.h"
#include "record/opencl/entry_points.h"
#include "record/opencl/memory.h"

namespace fathom::record::opencl {

void* CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
                            cl_uint alignment) {
  void* const address = timed(Kind::call, "clSVMAlloc",
                              [&] { return driver.clSVMAlloc(context, flags, bytes, alignment); });
  address_allocated(context, address, bytes, "clSVMAlloc");
  return address;
}

void CL_API_CALL svm_free(cl_context context, void* address) {
  address_freed(address);  // before another thread can be given the same address
  const std::int64_t begin_ns = now_ns();
  driver.clSVMFree(context, address);
  report_call(Kind::call, "clSVMFree", begin_ns, now_ns(), CL_SUCCESS);
}

cl_int CL_API_CALL enqueue_svm_free(cl_command_queue queue, cl_uint count, void** addresses,
                                    void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void**,
                                                                void*),
                                    void* user_data, cl_uint wait_count, const cl_event* wait,
                                    cl_event* event) {
  const Enqueued what = {.api = "clEnqueueSVMFree",
                         .command = {.kind = Kind::marker, .name = "SVMFree"},
                         .frees = addresses == nullptr ? nullptr : take_freed(addresses, count)};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueSVMFree(queue, count, addresses, function, user_data, wait_count, wait,
                                   out);
  });
}

cl_int CL_API_CALL enqueue_svm_memcpy(cl_command_queue queue, cl_bool blocking, void* to,
                                      const void* from, size_t bytes, cl_uint wait_count,
                                      const cl_event* wait, cl_event* event) {
  const Enqueued what = {.api = "clEnqueueSVMMemcpy",
                         .command = {.kind = Kind::copy, .name = "SVMMemcpy", .bytes = bytes},
                         .blocking = blocking != CL_FALSE};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_svm_mem_fill(cl_command_queue queue, void* to, const void* pattern,
                                        size_t pattern_bytes, size_t bytes, cl_uint wait_count,
                                        const cl_event* wait, cl_event* event) {
  const Enqueued what = {.api = "clEnqueueSVMMemFill",
                         .command = {.kind = Kind::fill, .name = "SVMMemFill", .bytes = bytes}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueSVMMemFill(queue, to, pattern, pattern_bytes, bytes, wait_count, wait,
                                      out);
  });
}

cl_int CL_API_CALL enqueue_svm_map(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
                                   void* address, size_t bytes, cl_uint wait_count,
                                   const cl_event* wait, cl_event* event) {
  const Enqueued what = {.api = "clEnqueueSVMMap",
                         .command = {.kind = Kind::map, .name = "SVMMap"},
                         .blocking = blocking != CL_FALSE};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueSVMMap(queue, blocking, flags, address, bytes, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_svm_unmap(cl_command_queue queue, void* address, cl_uint wait_count,
                                     const cl_event* wait, cl_event* event) {
  const Enqueued what = {.api = "clEnqueueSVMUnmap",
                         .command = {.kind = Kind::unmap, .name = "SVMUnmap"}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueSVMUnmap(queue, address, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_svm_migrate_mem(cl_command_queue queue, cl_uint count,
                                           const void** addresses, const size_t* sizes,
                                           cl_mem_migration_flags flags, cl_uint wait_count,
                                           const cl_event* wait, cl_event* event) {
  const Enqueued what = {.api = "clEnqueueSVMMigrateMem",
                         .command = {.kind = Kind::marker, .name = "SVMMigrateMem"}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueSVMMigrateMem(queue, count, addresses, sizes, flags, wait_count, wait,
                                         out);
  });
}

}  // namespace fathom::record::opencl
