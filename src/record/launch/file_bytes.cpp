#include "record/launch/file_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/output.h"

namespace fathom::record {

File::File(const std::string& path, int flags)
    : file_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw base::Error(path, std::strerror(errno));
}

File::~File() {
  close(file_);
}

void write_all(const File& to, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(to.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      base::fail_to_write(path, errno);
    }
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

}  // namespace fathom::record
