#include "record/launch/process_tree.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace fathom::record {
namespace {

// The ids in /proc/PID/task/TID/children.
std::vector<pid_t> ids_in(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  std::vector<pid_t> ids;
  for (pid_t id = 0; file && std::fscanf(file.get(), "%d", &id) == 1;) ids.push_back(id);
  return ids;
}

}  // namespace

std::vector<pid_t> descendants(pid_t process) {
  std::vector<pid_t> found = {process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::error_code gone;
    const std::string tasks = fmt::format("/proc/{}/task", found[i]);
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
      for (const pid_t child : ids_in(task.path().string() + "/children")) found.push_back(child);
    }
  }
  return found;
}

}  // namespace fathom::record
