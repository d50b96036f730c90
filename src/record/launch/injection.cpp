#include "record/launch/injection.h"

#include <cstdlib>
#include <filesystem>

namespace fathom::record {
namespace fs = std::filesystem;

std::string recorder_library(const std::string& name) {
  std::error_code unknown;
  const fs::path bin = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const char* folder : {FATHOM_RECORDERS_FROM_BIN, "../lib/fathom", "../lib"}) {
    const fs::path candidate = (bin / folder / name).lexically_normal();
    if (fs::exists(candidate, unknown)) return candidate.string();
  }
  return {};
}

Environment environment_for(const Injection& injection) {
  Environment environment = {{"FATHOM_RUN_FILE", injection.run_file}};
  if (!injection.live_folder.empty()) {
    environment.emplace_back("FATHOM_LIVE_FOLDER", injection.live_folder);
  }
  if (injection.every_call) environment.emplace_back("FATHOM_OPENCL_API", "all");
  if (const std::string layer = recorder_library("libfathom_opencl.so");
      injection.opencl && !layer.empty()) {
    // Ours first: ocl-icd 2.3.1 damages the list that children inherit after its first entry.
    const char* others = std::getenv("OPENCL_LAYERS");
    environment.emplace_back("OPENCL_LAYERS",
                             others == nullptr || *others == '\0' ? layer : layer + ":" + others);
  }
  if (const std::string library = recorder_library("libfathom_cuda.so");
      injection.cuda && !library.empty()) {
    environment.emplace_back("CUDA_INJECTION64_PATH", library);
  }
  return environment;
}

}  // namespace fathom::record
