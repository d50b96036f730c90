#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
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

// Those of these folders whose name ends so, unpacked or not: ".json" is ".json.gz", too.
inline std::vector<std::string> corpus_files(const std::vector<std::string>& folders,
                                             const std::string& ending) {
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    for (const std::string& file : corpus_files(folder)) {
      const bool fits = file.ends_with(ending) || file.ends_with(ending + ".gz");
      if (fits) files.push_back(file);
    }
  }
  return files;
}

// One of them.
inline std::optional<std::string> corpus_file(const std::string& path) {
  const char* set = std::getenv("FATHOM_CORPUS");
  const std::string root = set != nullptr ? set : FATHOM_SOURCE_DIR "/../shared/corpus";
  const std::string file = root + "/" + path;
  return std::filesystem::exists(file) ? std::optional(file) : std::nullopt;
}

}  // namespace fathom::trace
