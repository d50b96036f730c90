#include "profiler/run_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace fathom::detail {
namespace {

std::string with_process_id(std::string path) {
  const std::string pid = std::to_string(getpid());
  for (std::size_t at = 0; (at = path.find("%p", at)) != std::string::npos; at += pid.size()) {
    path.replace(at, 2, pid);
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

int open_for_writing(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw base::Error(path, std::strerror(errno));
  return fd;
}

}  // namespace

RunFile::RunFile(const std::string& path) : path_(with_process_id(path)) {
  buffer_ = std::make_unique<std::uint8_t[]>(kBuffer);
  fd_ = open_for_writing(path_);
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
}

RunFile::~RunFile() {
  if (fd_ < 0) return;
  flush();
  close(fd_);
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
  while (size > 0 && !failed_) {
    const ssize_t written = write(fd_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      failed_ = true;
      std::fprintf(stderr, "fathom: %s: %s. The recording ends here\n", path_.c_str(),
                   std::strerror(errno));
      return;
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void RunFile::abandon() noexcept {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace fathom::detail
