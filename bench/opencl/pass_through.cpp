// A layer that hands every call on: the floor that any layer stands on. The enqueue is wrapped, as
// a layer that does anything with it must.

#include <CL/cl_layer.h>

#include <algorithm>
#include <cstring>

namespace {

cl_icd_dispatch next = {};
cl_icd_dispatch ours = {};

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const size_t* offset, const size_t* global, const size_t* local,
                                  cl_uint wait_count, const cl_event* wait, cl_event* event) {
  return next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count,
                                     wait, event);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the loader's names.
#pragma GCC visibility push(default)
extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void* to,
                                               size_t* needed) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (to != nullptr && room >= sizeof version) std::memcpy(to, &version, sizeof version);
  if (needed != nullptr) *needed = sizeof version;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* target,
                                            cl_uint* count_ret, const cl_icd_dispatch** layer_ret) {
  const std::size_t entries = std::min<std::size_t>(count, sizeof next / sizeof(void*));
  std::memcpy(static_cast<void*>(&next), target, entries * sizeof(void*));
  ours = next;
  ours.clEnqueueNDRangeKernel = enqueue_kernel;
  *count_ret = static_cast<cl_uint>(entries);
  *layer_ret = &ours;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count,
                                                          const cl_icd_dispatch* target,
                                                          cl_uint* count_ret,
                                                          const cl_icd_dispatch** layer_ret,
                                                          const void* /*properties*/) {
  return clInitLayer(count, target, count_ret, layer_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer() {
  return CL_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
