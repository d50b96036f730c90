// Reads, writes, copies, fills and maps of images.

#include "record/opencl/enqueue.h"
#include "record/opencl/entry_points.h"
#include "record/opencl/memory.h"

namespace fathom::record::opencl {
namespace {

std::size_t image_bytes(cl_mem image, const size_t* region) {
  if (region == nullptr) return 0;
  return region[0] * region[1] * region[2] * image_element_bytes(image);
}

}  // namespace

cl_int CL_API_CALL enqueue_read_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                      const size_t* origin, const size_t* region, size_t row,
                                      size_t slice, void* to, cl_uint wait_count,
                                      const cl_event* wait, cl_event* event) {
  const Enqueued what = copy("clEnqueueReadImage", "ReadImage", CopyDirection::device_to_host,
                             image_bytes(image, region), blocking);
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueReadImage(queue, image, blocking, origin, region, row, slice, to,
                                     wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_write_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                       const size_t* origin, const size_t* region, size_t row,
                                       size_t slice, const void* from, cl_uint wait_count,
                                       const cl_event* wait, cl_event* event) {
  const Enqueued what = copy("clEnqueueWriteImage", "WriteImage", CopyDirection::host_to_device,
                             image_bytes(image, region), blocking);
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueWriteImage(queue, image, blocking, origin, region, row, slice, from,
                                      wait_count, wait, out);
  });
}

cl_int CL_API_CALL enqueue_copy_image(cl_command_queue queue, cl_mem from, cl_mem to,
                                      const size_t* from_origin, const size_t* to_origin,
                                      const size_t* region, cl_uint wait_count,
                                      const cl_event* wait, cl_event* event) {
  const Enqueued what = copy("clEnqueueCopyImage", "CopyImage", CopyDirection::device_to_device,
                             image_bytes(from, region));
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueCopyImage(queue, from, to, from_origin, to_origin, region, wait_count,
                                     wait, out);
  });
}

cl_int CL_API_CALL enqueue_copy_image_to_buffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                const size_t* origin, const size_t* region,
                                                size_t offset, cl_uint wait_count,
                                                const cl_event* wait, cl_event* event) {
  const Enqueued what = copy("clEnqueueCopyImageToBuffer", "CopyImageToBuffer",
                             CopyDirection::device_to_device, image_bytes(from, region));
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueCopyImageToBuffer(queue, from, to, origin, region, offset, wait_count,
                                             wait, out);
  });
}

cl_int CL_API_CALL enqueue_copy_buffer_to_image(cl_command_queue queue, cl_mem from, cl_mem to,
                                                size_t offset, const size_t* origin,
                                                const size_t* region, cl_uint wait_count,
                                                const cl_event* wait, cl_event* event) {
  const Enqueued what = copy("clEnqueueCopyBufferToImage", "CopyBufferToImage",
                             CopyDirection::device_to_device, image_bytes(to, region));
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueCopyBufferToImage(queue, from, to, offset, origin, region, wait_count,
                                             wait, out);
  });
}

cl_int CL_API_CALL enqueue_fill_image(cl_command_queue queue, cl_mem image, const void* colour,
                                      const size_t* origin, const size_t* region,
                                      cl_uint wait_count, const cl_event* wait, cl_event* event) {
  const Enqueued what = {
      .api = "clEnqueueFillImage",
      .command = {.kind = Kind::fill, .name = "FillImage", .bytes = image_bytes(image, region)}};
  return enqueue(queue, what, event, [&](cl_event* out) {
    return driver.clEnqueueFillImage(queue, image, colour, origin, region, wait_count, wait, out);
  });
}

void* CL_API_CALL enqueue_map_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                    cl_map_flags flags, const size_t* origin, const size_t* region,
                                    size_t* row, size_t* slice, cl_uint wait_count,
                                    const cl_event* wait, cl_event* event, cl_int* error) {
  return enqueue_map(queue, "clEnqueueMapImage", "MapImage", blocking, event, error,
                     [&](cl_event* out, cl_int* status) {
                       return driver.clEnqueueMapImage(queue, image, blocking, flags, origin,
                                                       region, row, slice, wait_count, wait, out,
                                                       status);
                     });
}

}  // namespace fathom::record::opencl
