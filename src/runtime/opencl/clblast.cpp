#include "runtime/opencl/clblast.h"

#include <dlfcn.h>

namespace fathom::runtime {

std::optional<Clblast> load_clblast(const std::string& library) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return std::nullopt;
  Clblast api;
  api.multiply = reinterpret_cast<Clblast::Multiply*>(dlsym(loaded, "CLBlastSgemm"));
  api.multiply_many =
      reinterpret_cast<Clblast::MultiplyMany*>(dlsym(loaded, "CLBlastSgemmStridedBatched"));
  if (api.multiply == nullptr || api.multiply_many == nullptr) return std::nullopt;
  return api;
}

}  // namespace fathom::runtime
