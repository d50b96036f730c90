// Reads, writes, copies, fills and maps of buffers, and migrations.

#include "record/opencl/enqueue.h"
#include "record/opencl/entry_points.h"
#include "record/opencl/memory.h"

namespace fathom::record::opencl {
namespace {

std::size_t volume(const size_t* region) {
  return region == nullptr ? 0 : region[0] * region[1] * region[2];
}

}  // namespace

cl_int CL_API_CALL enqueue_read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t bytes, void* to, cl_uint wait_count,
                                       const cl_event* wait, cl_event* event) {
  const Enqueued what =
      copy("clEnqueueReadBuffer", "ReadBuffer", CopyDirection::device_to_host, bytes, blocking);
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, wait_count, wait,
                                      out);
  });
}

cl_int CL_API_CALL enqueue_write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t bytes, const void* from,
                                        cl_uint wait_count, const cl_event* wait, cl_event* event) {
  const Enqueued what =
      copy("clEnqueueWriteBuffer", "WriteBuffer", CopyDirection::host_to_device, bytes, blocking);
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from, wait_count,
                                       wait, out);
  });
}

cl_int CL_API_CALL enqueue_read_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t* origin, const size_t* host_origin,
                                            const size_t* region, size_t row, size_t slice,
                                            size_t host_row, size_t host_slice, void* to,
                                            cl_uint wait_count, const cl_event* wait,
                                            cl_event* event) {
  const Enqueued what = copy("clEnqueueReadBufferRect", "ReadBufferRect",
                             CopyDirection::device_to_host, volume(region), blocking);
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueReadBufferRect(queue, buffer, blocking, origin, host_origin, region, row,
                                          slice, host_row, host_slice, to, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_write_buffer_rect(cl_command_queue queue, cl_mem buffer,
                                             cl_bool blocking, const size_t* origin,
                                             const size_t* host_origin, const size_t* region,
                                             size_t row, size_t slice, size_t host_row,
                                             size_t host_slice, const void* from,
                                             cl_uint wait_count, const cl_event* wait,
                                             cl_event* event) {
  const Enqueued what = copy("clEnqueueWriteBufferRect", "WriteBufferRect",
                             CopyDirection::host_to_device, volume(region), blocking);
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueWriteBufferRect(queue, buffer, blocking, origin, host_origin, region,
                                           row, slice, host_row, host_slice, from, wait_count, wait,
                                           out);
  });
}

cl_int CL_API_CALL enqueue_copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                       size_t from_offset, size_t to_offset, size_t bytes,
                                       cl_uint wait_count, const cl_event* wait, cl_event* event) {
  const Enqueued what =
      copy("clEnqueueCopyBuffer", "CopyBuffer", CopyDirection::device_to_device, bytes);
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes, wait_count,
                                      wait, out);
  });
}

cl_int CL_API_CALL enqueue_copy_buffer_rect(cl_command_queue queue, cl_mem from, cl_mem to,
                                            const size_t* from_origin, const size_t* to_origin,
                                            const size_t* region, size_t from_row,
                                            size_t from_slice, size_t to_row, size_t to_slice,
                                            cl_uint wait_count, const cl_event* wait,
                                            cl_event* event) {
  const Enqueued what = copy("clEnqueueCopyBufferRect", "CopyBufferRect",
                             CopyDirection::device_to_device, volume(region));
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin, region, from_row,
                                          from_slice, to_row, to_slice, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                                       size_t pattern_bytes, size_t offset, size_t bytes,
                                       cl_uint wait_count, const cl_event* wait, cl_event* event) {
  const Enqueued what = {.api = "clEnqueueFillBuffer",
                         .command = {.kind = Kind::fill, .name = "FillBuffer", .bytes = bytes}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, offset, bytes,
                                      wait_count, wait, out);
  });
}

void* CL_API_CALL enqueue_map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t bytes,
                                     cl_uint wait_count, const cl_event* wait, cl_event* event,
                                     cl_int* error) {
  return enqueue_map(queue, "clEnqueueMapBuffer", "MapBuffer", blocking, event, error,
                     [&](cl_event* out, cl_int* status) {
                       return driver.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset,
                                                        bytes, wait_count, wait, out, status);
                     });
}

cl_int CL_API_CALL enqueue_unmap_mem_object(cl_command_queue queue, cl_mem object, void* mapped,
                                            cl_uint wait_count, const cl_event* wait,
                                            cl_event* event) {
  const Enqueued what = {.api = "clEnqueueUnmapMemObject",
                         .command = {.kind = Kind::unmap, .name = "UnmapMemObject"}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueUnmapMemObject(queue, object, mapped, wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_migrate_mem_objects(cl_command_queue queue, cl_uint count,
                                               const cl_mem* objects, cl_mem_migration_flags flags,
                                               cl_uint wait_count, const cl_event* wait,
                                               cl_event* event) {
  const Enqueued what = {.api = "clEnqueueMigrateMemObjects",
                         .command = {.kind = Kind::marker, .name = "MigrateMemObjects"}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueMigrateMemObjects(queue, count, objects, flags, wait_count, wait, out);
  });
}

}  // namespace fathom::record::opencl
