#include "fathom/opencl.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace fathom {
namespace {

// The folder that this library was loaded from.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// As installed, and as built.
std::string find_layer() {
  const std::string folder = own_folder();
  for (const char* const place : {"/fathom/libfathom_opencl.so", "/libfathom_opencl.so"}) {
    std::string path = folder + place;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

bool is_listed(const std::string& layers) {
  return layers.find("libfathom_opencl.so") != std::string::npos;
}

}  // namespace

bool record_opencl() noexcept {
  try {
    const char* const set = std::getenv("OPENCL_LAYERS");
    const std::string others = set == nullptr ? "" : set;
    if (is_listed(others)) return true;
    const std::string layer = find_layer();
    if (layer.empty()) {
      std::fprintf(stderr,
                   "fathom: libfathom_opencl.so is not beside libfathom.so: OpenCL work is "
                   "not recorded\n");
      return false;
    }
    // Ours first: ocl-icd 2.3.1 damages the list that children inherit after its first entry.
    const std::string layers = others.empty() ? layer : layer + ":" + others;
    return setenv("OPENCL_LAYERS", layers.c_str(), 1) == 0;
  } catch (...) {
    return false;
  }
}

}  // namespace fathom
