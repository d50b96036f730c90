#include "record/launch/run_parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace fathom::record {
namespace fs = std::filesystem;
namespace {

class File {
 public:
  File(const std::string& path, int flags) : file_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw base::Error(path, std::strerror(errno));
  }
  ~File() { close(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

void write_all(const File& to, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(to.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) throw base::Error(path, std::strerror(errno));
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void append_file(const File& to, const std::string& path, const File& from) {
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t size = read(from.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    write_all(to, path, {buffer.data(), static_cast<std::size_t>(size)});
  }
}

// A recorder holds a lock on what it writes for as long as its process lives.
bool is_being_written(const File& part) {
  return flock(part.get(), LOCK_SH | LOCK_NB) != 0;
}

std::vector<fs::path> parts_in(const std::string& folder) {
  std::vector<fs::path> parts;
  for (const auto& entry : fs::directory_iterator(folder)) parts.push_back(entry.path());
  std::sort(parts.begin(), parts.end());
  return parts;
}

// "run.pftrace" and "1234" → "run.1234.pftrace".
std::string beside(const std::string& run_file, const std::string& mark) {
  const fs::path path(run_file);
  return (path.parent_path() / (path.stem().string() + "." + mark + path.extension().string()))
      .string();
}

}  // namespace

RunParts::RunParts(const std::string& run_file)
    : run_file_(fs::absolute(run_file).string()), folder_(run_file_ + ".parts-XXXXXX") {
  if (mkdtemp(folder_.data()) == nullptr) throw base::Error(run_file, std::strerror(errno));
}

RunParts::~RunParts() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string RunParts::pattern() const {
  return folder_ + "/%p.pftrace";
}

JoinedRun RunParts::join(std::string_view first) {
  JoinedRun joined;
  const std::string whole = folder_ + "/whole";
  {
    const std::vector<fs::path> parts = parts_in(folder_);
    const File run(whole, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(run, run_file_, first);
    for (const fs::path& path : parts) {
      const File part(path.string(), O_RDONLY);
      if (is_being_written(part)) {
        joined.still_going.push_back(beside(run_file_, path.stem().string()));
        fs::rename(path, joined.still_going.back());
      } else {
        append_file(run, run_file_, part);
        ++joined.processes;
      }
    }
  }
  fs::rename(whole, run_file_);
  return joined;
}

std::string reserve_run_file(const std::string& name) {
  const fs::path path(name);
  for (int attempt = 1;; ++attempt) {
    std::string candidate =
        attempt == 1 ? name
                     : (path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), attempt,
                                                         path.extension().string()))
                           .string();
    const int file = open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      close(file);
      return candidate;
    }
    if (errno != EEXIST) throw base::Error(candidate, std::strerror(errno));
  }
}

}  // namespace fathom::record
