#include "profiler/run_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/printable.h"
#include "profiler/write_signals.h"

namespace fathom::detail {
namespace {

constexpr std::int64_t kLeastReserved = 1 << 20;
constexpr std::int64_t kMostReserved = 64 << 20;

// "%%" is a percent sign: of a folder that somebody else has named.
std::string with_process_id(const std::string& pattern, const std::string& id) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view two = std::string_view(pattern).substr(at, 2);
    if (two == "%p" || two == "%%") ++at;
    two == "%p" ? path += id : path += two[0];
  }
  return path;
}

// run.pftrace → run.1234.pftrace
std::string beside(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const std::size_t at = has_ending ? dot : path.size();
  return path.substr(0, at) + "." + std::to_string(getpid()) + path.substr(at);
}

int open_for_writing(const std::string& path, int flags = 0) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (fd < 0 && errno != EEXIST) throw base::Error(path, std::strerror(errno));
  return fd;
}

// A process that replaces itself (exec) keeps its id, and its first life is in the file of that
// name already: each later one has a name of its own, run-1234-2.pftrace. A run that is over when
// the process begins to record has taken its folder away; it is made again.
int open_with_process_id(const std::string& pattern, std::string& path) {
  const std::string pid = std::to_string(getpid());
  path = with_process_id(pattern, pid);
  if (const std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
    mkdir(path.substr(0, slash).c_str(), 0777);
  }
  int fd = open_for_writing(path, O_EXCL);
  for (int life = 2; fd < 0; ++life) {
    path = with_process_id(pattern, pid + "-" + std::to_string(life));
    fd = open_for_writing(path, O_EXCL);
  }
  return fd;
}

FileIdentity identity_of(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

// Out of the way of programs that count on low numbers, or close them all one by one.
int move_up(int fd) {
  constexpr rlim_t kHigh = 1000;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 64) return fd;
  const auto least = static_cast<int>(std::min(kHigh, limit.rlim_cur - 32));
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, least);
  if (high < 0) return fd;
  close(fd);
  return high;
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::unique_ptr<char, void (*)(void*)> folder(getcwd(nullptr, 0), std::free);
  return folder == nullptr ? path : std::string(folder.get()) + "/" + path;
}

}  // namespace

RunFile::RunFile(const std::string& path) : path_(path) {
  buffer_ = std::make_unique<std::uint8_t[]>(kBuffer);
  const bool is_pattern = path.find("%p") != std::string::npos;
  fd_ = is_pattern ? open_with_process_id(path, path_) : open_for_writing(path_);
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd_);
    path_ = beside(path_);
    fd_ = open_for_writing(path_);
  }
  // A pipe or a device cannot be cut, and need not be.
  if (ftruncate(fd_, 0) != 0 && errno != EINVAL) {
    close(fd_);
    throw base::Error(path_, std::strerror(errno));
  }
  fd_ = move_up(fd_);
  identity_ = identity_of(fd_);
  absolute_path_ = absolute(path_);
  standard_error_ = identity_of(STDERR_FILENO);
}

RunFile::RunFile(const std::string& path, std::int64_t bytes)
    : path_(path), absolute_path_(path), written_(bytes) {
  buffer_ = std::make_unique<std::uint8_t[]>(kBuffer);
  fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd_ < 0) throw base::Error(path_, std::strerror(errno));
  struct stat status {};
  const bool is_usable = fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) &&
                         status.st_size >= bytes && flock(fd_, LOCK_EX | LOCK_NB) == 0 &&
                         ftruncate(fd_, bytes) == 0 && lseek(fd_, bytes, SEEK_SET) == bytes;
  if (!is_usable) {
    close(fd_);
    throw base::Error(path_, "cannot be added to");
  }
  identity_ = identity_of(fd_);
  standard_error_ = identity_of(STDERR_FILENO);
}

RunFile::~RunFile() {
  if (fd_ < 0) return;
  flush();
  if (!is_ours()) return;
  // Gives back what was reserved and not used. It is the file's own size, so nothing is lost if it
  // fails.
  if (reserved_ > written_) [[maybe_unused]]
    const int kept = ftruncate(fd_, written_);
  close(fd_);
}

bool RunFile::is_ours() const {
  return identity_of(fd_) == identity_;
}

bool RunFile::open_again() {
  const int fd = open(absolute_path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  if (identity_of(fd) != identity_ || lseek(fd, written_, SEEK_SET) != written_) {
    close(fd);
    return false;
  }
  fd_ = move_up(fd);
  flock(fd_, LOCK_EX | LOCK_NB);  // as before: it says that the file is being written
  return true;
}

void RunFile::lose() {
  is_lost_ = true;
  failed_ = true;
  if (is_quiet_when_lost_) return;
  give_up("the program closed the file, and it could not be reopened");
}

void RunFile::give_up(const char* reason) {
  failed_ = true;
  // Standard error may be the program's own file by now, too.
  if (identity_of(STDERR_FILENO) != standard_error_) return;
  base::say(stderr,
            "fathom: " + base::printable(path_) + ": " + reason + ". The recording ends here\n");
}

// A write into reserved space is a third cheaper for the system. Small runs reserve little: a
// killed program leaves the rest of its reservation behind.
void RunFile::reserve_disk() {
  if (written_ + static_cast<std::int64_t>(kBuffer) <= reserved_) return;
  const std::int64_t ahead = std::clamp<std::int64_t>(written_ / 2, kLeastReserved, kMostReserved);
  const bool done = fallocate(fd_, FALLOC_FL_KEEP_SIZE, written_, ahead) == 0;
  reserved_ = done ? written_ + ahead : INT64_MAX;  // not to be had here: not asked again
}

void RunFile::append(std::string_view bytes) {
  if (bytes.size() > kBuffer) {
    flush();
    write_all(bytes.data(), bytes.size());
    return;
  }
  std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
  advance(bytes.size());
}

void RunFile::flush() {
  write_all(reinterpret_cast<const char*>(buffer_.get()), size_);
  size_ = 0;
}

void RunFile::write_all(const char* bytes, std::size_t size) {
  if (size == 0 || failed_) return;
  WriteSignals signals;
  while (size > 0) {
    if (!is_ours() && !open_again()) return lose();
    reserve_disk();
    const ssize_t written = write(fd_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      signals.failed = true;
      return give_up(std::strerror(errno));
    }
    bytes += written;
    written_ += written;
    size -= static_cast<std::size_t>(written);
  }
}

void RunFile::abandon() noexcept {
  if (fd_ >= 0 && is_ours()) close(fd_);
  fd_ = -1;
}

}  // namespace fathom::detail
