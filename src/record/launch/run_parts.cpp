#include "record/launch/run_parts.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "record/launch/file_bytes.h"

namespace fathom::record {
namespace fs = std::filesystem;
namespace {

// A recorder holds a lock on what it writes for as long as its process lives. Children that end
// together with the program get a moment to do so.
bool is_being_written(const File& part) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    if (flock(part.get(), LOCK_SH | LOCK_NB) == 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::int64_t birth_ns(const fs::path& path) {
  struct statx status {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME, &status) != 0) return 0;
  return status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec;
}

// In the order in which their processes began: readers like clocks that go forward. Where the file
// system does not say, by name.
std::vector<fs::path> parts_in(const std::string& folder) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    found.emplace_back(birth_ns(entry.path()), entry.path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> parts;
  for (auto& [birth, path] : found) parts.push_back(std::move(path));
  return parts;
}

// "run.pftrace" and ".1234" → "run.1234.pftrace".
std::string marked(const std::string& run_file, const std::string& mark) {
  const fs::path path(run_file);
  return (path.parent_path() / (path.stem().string() + mark + path.extension().string())).string();
}

// Beside a file, so that the run is moved there at once; of a pipe or a device, where temporary
// files are.
std::string folder_pattern(const RunTarget& target) {
  constexpr std::size_t kMostOfTheName = 200;  // the longest that file systems have is 255
  if (target.is_file()) {
    const fs::path run = target.path();
    const std::string name = run.filename().string().substr(0, kMostOfTheName);
    return (run.parent_path() / (name + ".parts-XXXXXX")).string();
  }
  std::error_code missing;  // where TMPDIR names no folder
  const fs::path temporary = fs::temp_directory_path(missing);
  return ((missing ? "/tmp" : temporary) / "fathom-parts-XXXXXX").string();
}

}  // namespace

RunParts::RunParts(const std::string& run_file, bool force)
    : target_(run_file, force), folder_(folder_pattern(target_)) {
  if (mkdtemp(folder_.data()) == nullptr) throw base::Error(run_file, std::strerror(errno));
}

RunParts::~RunParts() {
  std::error_code ignored;
  for (const std::string& part : joined_) fs::remove(part, ignored);
  fs::remove(whole(), ignored);
  fs::remove(folder_, ignored);  // not where somebody has begun to write in it since
}

std::string RunParts::pattern() const {
  std::string folder = folder_;
  for (std::size_t at = 0; (at = folder.find('%', at)) != std::string::npos; at += 2) {
    folder.insert(at, 1, '%');
  }
  return folder + "/%p.pftrace";
}

std::string RunParts::readable() const {
  return target_.is_file() ? target_.name() : whole();
}

std::string RunParts::whole() const {
  return folder_ + "/whole";
}

JoinedRun RunParts::join(std::string_view first, const Complete& complete) {
  // A program may remove what it finds beside it; the run then has what the launcher knows.
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    base::fail_to_write(target_.name(), errno);
  }
  const std::vector<fs::path> parts = parts_in(folder_);
  try {
    const JoinedRun joined = join(first, parts, complete);
    target_.fill(whole());
    return joined;
  } catch (const base::Error& error) {
    joined_.clear();
    throw base::Error(error.where(), error.problem(),
                      parts.empty() ? "" : "What was recorded is in " + folder_);
  }
}

JoinedRun RunParts::join(std::string_view first, const std::vector<fs::path>& parts,
                         const Complete& complete) {
  JoinedRun joined;
  const File run(whole(), O_WRONLY | O_CREAT | O_TRUNC);
  write_all(run, target_.name(), first);
  for (const fs::path& path : parts) {
    const File part(path.string(), O_RDONLY);
    if (!is_being_written(part)) {
      flock(part.get(), LOCK_UN);
      if (complete) complete(live_.path() + "/" + path.filename().string(), path.string());
      append_file(run, target_.name(), part);
      joined_.push_back(path.string());
      ++joined.processes;
    } else if (target_.is_file()) {
      joined.still_going.push_back(
          reserve_run_file(marked(target_.path(), "." + path.stem().string())));
      fs::rename(path, joined.still_going.back());
    } else {
      joined.still_going.push_back(path.string());
    }
  }
  return joined;
}

std::string numbered(const std::string& name, int number) {
  return marked(name, "-" + std::to_string(number));
}

bool reserve(const std::string& name) {
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
  if (file < 0 && errno != EEXIST) base::fail_to_write(name, errno);
  return file >= 0;
}

std::string reserve_run_file(const std::string& name) {
  std::string candidate = name;
  for (int number = 2; !reserve(candidate); ++number) candidate = numbered(name, number);
  return candidate;
}

std::string reserve_numbered_run_file(const std::string& name) {
  std::string candidate = numbered(name, 1);
  for (int number = 2; !reserve(candidate); ++number) candidate = numbered(name, number);
  return candidate;
}

}  // namespace fathom::record
