#include "record/opencl/names.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include "record/opencl/driver.h"
#include "record/opencl/forever.h"
#include "record/opencl/handle_map.h"

namespace fathom::record::opencl {
namespace {

struct Names {
  std::mutex lock;
  std::unordered_set<std::string> texts;  // its elements never move
  HandleMap<const char*> kernels;
};

Forever<Names> names;

}  // namespace

const char* intern(std::string_view text) noexcept {
  try {
    const std::lock_guard guard(names->lock);
    return names->texts.emplace(text).first->c_str();
  } catch (...) {
    return "";
  }
}

void name_kernel(cl_kernel kernel) noexcept {
  std::size_t size = 0;
  if (driver.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &size) != CL_SUCCESS) {
    return;
  }
  try {
    std::string name(size, '\0');
    driver.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name.data(), nullptr);
    names->kernels.set(kernel, intern(name.c_str()));
  } catch (...) {  // no memory: the kernel will be asked again when it is enqueued
  }
}

const char* kernel_name(cl_kernel kernel) noexcept {
  const char* name = names->kernels.find(kernel);
  if (name == nullptr) [[unlikely]] {  // made by an extension we do not know
    name_kernel(kernel);
    name = names->kernels.find(kernel);
  }
  return name == nullptr ? "kernel" : name;
}

void lock_names() noexcept {
  names->lock.lock();
  names->kernels.lock();
}

void unlock_names() noexcept {
  names->kernels.unlock();
  names->lock.unlock();
}

}  // namespace fathom::record::opencl
