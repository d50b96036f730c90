#include "record/launch/run_target.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <protozero/pbf_reader.hpp>

#include "base/error.h"
#include "base/output.h"
#include "perfetto/fields.h"
#include "record/launch/file_bytes.h"
#include "record/launch/run_parts.h"

namespace fathom::record {
namespace fs = std::filesystem;
namespace {

// Where a name leads when it is a link, even one to a file that is not there yet.
fs::path followed(const std::string& name) {
  constexpr int kMostLinks = 40;
  std::error_code problem;
  fs::path path = fs::absolute(name, problem);
  if (problem) base::fail_to_write(name, problem.value());
  // An open pipe (/dev/fd/63) is a link to a name that nothing has.
  if (fs::is_fifo(fs::status(path, problem))) return path;
  for (int i = 0; fs::is_symlink(fs::symlink_status(path, problem)); ++i) {
    if (i == kMostLinks) base::fail_to_write(name, ELOOP);
    path = path.parent_path() / fs::read_symlink(path);  // an absolute one replaces it all
  }
  if (problem && problem != std::errc::no_such_file_or_directory) {
    base::fail_to_write(name, problem.value());
  }
  return path;
}

bool is_same_file(int file, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return fstat(file, &open) == 0 && stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

bool is_run(int file) {
  // The run is told in the first packet, behind a few numbers.
  char head[64];
  const ssize_t size = pread(file, head, sizeof head, 0);
  if (size < 2 || head[0] != (perfetto::trace::kPacket << 3 | 2)) return false;
  try {
    const char* at = head + 1;
    const std::uint64_t length = protozero::decode_varint(&at, head + size);
    const auto there = static_cast<std::uint64_t>(head + size - at);
    protozero::pbf_reader packet(at, std::min(length, there));
    while (packet.next()) {
      if (packet.tag() == perfetto::packet::kFathomRun) return true;
      packet.skip();
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return false;
}

RunTarget::RunTarget(const std::string& name, bool force)
    : name_(name), path_(followed(name).string()) {
  struct stat known {};
  if (stat(path_.c_str(), &known) == 0) {
    if (S_ISDIR(known.st_mode)) {
      throw base::Error(name, "is a directory", "Name a file in it for the run");
    }
    if (S_ISSOCK(known.st_mode)) throw base::Error(name, "is a socket", "Name a file");
    is_file_ = S_ISREG(known.st_mode);
    // In the place of that file there would be ours, and what the program wrote there would be
    // gone.
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      if ((is_file_ || S_ISFIFO(known.st_mode)) && is_same_file(stream, path_)) {
        throw base::Error(name, "is the file that this command's output goes to",
                          "Name another file");
      }
    }
  }
  if (!is_file_) {
    if (access(path_.c_str(), W_OK) != 0) base::fail_to_write(name, errno);
    return;
  }
  claim();
  if (fstat(lock_, &known) == 0 && known.st_size > 0 && !force && !is_run(lock_)) {
    close(lock_);
    throw base::Error(name, "exists and is not a Fathom run, so it is not overwritten",
                      "Name another file, or add --force");
  }
}

RunTarget::~RunTarget() {
  struct stat known {};
  if (is_made_ && fstat(lock_, &known) == 0 && known.st_size == 0) unlink(path_.c_str());
  if (lock_ >= 0) close(lock_);
}

// A recording that ends puts another file in the place of the one that was opened here.
void RunTarget::claim() {
  do {
    if (lock_ >= 0) close(lock_);
    is_made_ = true;
    lock_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (lock_ < 0 && errno == EEXIST) {
      is_made_ = false;
      lock_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
      if (lock_ < 0 && errno == ENOENT) continue;
    }
    if (lock_ < 0) base::fail_to_write(name_, errno);
    if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(lock_);
      throw base::Error(name_, "is being recorded to by another fathom", "Name another file");
    }
  } while (lock_ < 0 || !is_same_file(lock_, path_));
}

void RunTarget::fill(const std::string& whole) {
  const File run(whole, O_RDONLY);
  if (!is_file_) {
    const File to(path_, O_WRONLY | O_NOCTTY);
    append_file(to, name_, run);
    return;
  }
  struct stat known {};
  if (fstat(lock_, &known) == 0) {  // the mode, and the owner where we may
    [[maybe_unused]] const int owned = fchown(run.get(), known.st_uid, known.st_gid);
    fchmod(run.get(), known.st_mode & 07777);
  }
  // Held for as long as this is: what is in the file is still to be read.
  const int lock = open(whole.c_str(), O_RDWR | O_CLOEXEC);
  if (lock >= 0) flock(lock, LOCK_EX | LOCK_NB);
  if (rename(whole.c_str(), path_.c_str()) != 0) {
    if (lock >= 0) close(lock);
    base::fail_to_write(name_, errno);
  }
  close(lock_);
  lock_ = lock;
  is_made_ = false;
}

int remove_stale_runs(const std::string& name, int from, int to) {
  int removed = 0;
  for (int number = from; number <= to; ++number) {
    const std::string path = numbered(name, number);
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    struct stat known {};
    const bool is_stale = fstat(file, &known) == 0 && S_ISREG(known.st_mode) && is_run(file);
    close(file);
    if (is_stale && unlink(path.c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace fathom::record
