// The four symbols by which a loader takes us in, and the table of entry points we give it.

#include <algorithm>
#include <array>
#include <cstring>

#include "record/opencl/calls.h"
#include "record/opencl/driver.h"
#include "record/opencl/entry_points.h"

namespace fathom::record::opencl {

constinit cl_icd_dispatch driver = {};

namespace {

// A loader newer than our headers passes more entries than we know: those go through as they are.
constexpr std::size_t kMaxEntries = 512;

union Table {
  std::array<void*, kMaxEntries> entries = {};
  cl_icd_dispatch dispatch;
};
static_assert(sizeof(cl_icd_dispatch) <= sizeof(Table));

constinit Table table = {};

cl_int answer(const void* value, std::size_t size, std::size_t room, void* to,
              std::size_t* needed) {
  if (to != nullptr) {
    if (room < size) return CL_INVALID_VALUE;
    std::memcpy(to, value, size);
  }
  if (needed != nullptr) *needed = size;
  return CL_SUCCESS;
}

cl_int take_over(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_ret,
                 const cl_icd_dispatch** layer_ret) {
  if (target == nullptr || count_ret == nullptr || layer_ret == nullptr) return CL_INVALID_VALUE;
  const std::size_t entries = std::min<std::size_t>(count, kMaxEntries);
  std::memcpy(table.entries.data(), target, entries * sizeof(void*));
  std::memcpy(&driver, target, std::min(entries * sizeof(void*), sizeof driver));
  // Entries past the loader's are null here, and replace() leaves null entries alone.
  install_entry_points(table.dispatch);
  install_calls(table.dispatch);
  *count_ret = static_cast<cl_uint>(entries);
  *layer_ret = &table.dispatch;
  return CL_SUCCESS;
}

}  // namespace
}  // namespace fathom::record::opencl

// NOLINTBEGIN(readability-identifier-naming): the loader's names.
#pragma GCC visibility push(default)
extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void* to,
                                               size_t* needed) {
  using fathom::record::opencl::answer;
  constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  constexpr char kName[] = "Fathom";
  if (what == CL_LAYER_API_VERSION) return answer(&kVersion, sizeof kVersion, room, to, needed);
  if (what == CL_LAYER_NAME) return answer(kName, sizeof kName, room, to, needed);
  return CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* target,
                                            cl_uint* count_ret, const cl_icd_dispatch** layer_ret) {
  return fathom::record::opencl::take_over(count, target, count_ret, layer_ret);
}

// Newer loaders ask for this one. Its properties are a list of pairs that ends with 0; none is
// known to us.
CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count,
                                                          const cl_icd_dispatch* target,
                                                          cl_uint* count_ret,
                                                          const cl_icd_dispatch** layer_ret,
                                                          const void* /*properties*/) {
  return fathom::record::opencl::take_over(count, target, count_ret, layer_ret);
}

// The program may still call through us (static destructors release queues after the loader has
// said goodbye), so nothing is torn down.
CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer() {
  return CL_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
