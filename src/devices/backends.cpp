#include <utility>

#include "devices/backend.h"

namespace fathom::devices {

std::vector<std::unique_ptr<Backend>> backends(const Choice& choice, const Roots& roots) {
  std::vector<std::unique_ptr<Backend>> all;
  const auto add = [&](std::unique_ptr<Backend> backend) {
    if (backend) all.push_back(std::move(backend));
  };
  if (choice.is_demo) {
    add(demo_backend());
    return all;
  }
  if (choice.nvidia) {
    add(nvml_backend(roots));
    if (all.empty()) add(nvidia_smi_backend(roots));
  }
  add(amd_backend(roots));
  add(intel_backend(roots));
  if (choice.opencl) add(opencl_backend(roots));
  return all;
}

}  // namespace fathom::devices
