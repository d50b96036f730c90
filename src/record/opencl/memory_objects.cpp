// Entry points that make and release memory objects.

#include "record/opencl/calls.h"
#include "record/opencl/entry_points.h"
#include "record/opencl/memory.h"

namespace fathom::record::opencl {
namespace {

// Calls call(error*) and records both the call and what it made.
template <typename Call>
cl_mem create(cl_context context, const char* api, cl_int* error, Call call) {
  cl_int status = CL_SUCCESS;
  const cl_mem object = timed(
      Kind::call, api, [&] { return call(&status); }, &status);
  if (error != nullptr) *error = status;
  if (object != nullptr) object_created(context, object, api);
  return object;
}

}  // namespace

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                 cl_int* error) {
  return create(context, "clCreateBuffer", error, [&](cl_int* status) {
    return driver.clCreateBuffer(context, flags, bytes, host, status);
  });
}

cl_mem CL_API_CALL create_buffer_with_properties(cl_context context,
                                                 const cl_mem_properties* properties,
                                                 cl_mem_flags flags, size_t bytes, void* host,
                                                 cl_int* error) {
  return create(context, "clCreateBufferWithProperties", error, [&](cl_int* status) {
    return driver.clCreateBufferWithProperties(context, properties, flags, bytes, host, status);
  });
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
                                const cl_image_format* format, const cl_image_desc* description,
                                void* host, cl_int* error) {
  return create(context, "clCreateImage", error, [&](cl_int* status) {
    return driver.clCreateImage(context, flags, format, description, host, status);
  });
}

cl_mem CL_API_CALL create_image_with_properties(cl_context context,
                                                const cl_mem_properties* properties,
                                                cl_mem_flags flags, const cl_image_format* format,
                                                const cl_image_desc* description, void* host,
                                                cl_int* error) {
  return create(context, "clCreateImageWithProperties", error, [&](cl_int* status) {
    return driver.clCreateImageWithProperties(context, properties, flags, format, description, host,
                                              status);
  });
}

cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, size_t width, size_t height,
                                   size_t row, void* host, cl_int* error) {
  return create(context, "clCreateImage2D", error, [&](cl_int* status) {
    return driver.clCreateImage2D(context, flags, format, width, height, row, host, status);
  });
}

cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, size_t width, size_t height,
                                   size_t depth, size_t row, size_t slice, void* host,
                                   cl_int* error) {
  return create(context, "clCreateImage3D", error, [&](cl_int* status) {
    return driver.clCreateImage3D(context, flags, format, width, height, depth, row, slice, host,
                                  status);
  });
}

cl_mem CL_API_CALL create_pipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes,
                               cl_uint packets, const cl_pipe_properties* properties,
                               cl_int* error) {
  return create(context, "clCreatePipe", error, [&](cl_int* status) {
    return driver.clCreatePipe(context, flags, packet_bytes, packets, properties, status);
  });
}

}  // namespace fathom::record::opencl
