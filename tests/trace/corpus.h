#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace fathom::trace {

// Real traces, where they are at hand: in FATHOM_CORPUS or beside the project. Empty if not.
inline std::vector<std::string> corpus_files(const std::string& folder) {
  namespace fs = std::filesystem;
  const char* set = std::getenv("FATHOM_CORPUS");
  const fs::path root =
      set != nullptr ? fs::path(set) : fs::path(FATHOM_SOURCE_DIR "/../shared/corpus");
  std::vector<std::string> files;
  if (!fs::exists(root / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace fathom::trace
