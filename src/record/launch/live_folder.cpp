#include "record/launch/live_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

namespace fathom::record {
namespace fs = std::filesystem;
namespace {

constexpr const char* kMemoryFiles = "/dev/shm";
constexpr const char* kLiveFolderName = "fathom-live-";

int open_folder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

// One that was made this moment may not be locked yet.
bool is_left_behind(int folder) {
  constexpr std::time_t kMoment = 10;
  struct stat status {};
  return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
         status.st_ctime + kMoment < std::time(nullptr) && flock(folder, LOCK_EX | LOCK_NB) == 0;
}

// What a launcher that was killed could not remove would take memory until the system restarts.
void remove_left_behind() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kMemoryFiles, ignored)) {
    if (!entry.path().filename().string().starts_with(kLiveFolderName)) continue;
    const int folder = open_folder(entry.path().string());
    if (folder < 0) continue;
    if (is_left_behind(folder)) fs::remove_all(entry.path(), ignored);
    close(folder);
  }
}

}  // namespace

LiveFolder::LiveFolder() {
  remove_left_behind();
  std::string path = std::string(kMemoryFiles) + "/" + kLiveFolderName + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return;
  path_ = path;
  lock_ = open_folder(path_);
  if (lock_ >= 0) flock(lock_, LOCK_SH | LOCK_NB);
}

LiveFolder::~LiveFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace fathom::record
