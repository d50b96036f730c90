// Any bytes as the memory of a process that is gone: `fathom profile` adds what it holds to the
// run, which is read then. The input is the run file's size (4 bytes), and pieces of the memory:
// where (4 bytes, in units of 64), how many bytes (4), and these.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "profiler/leftovers.h"
#include "profiler/live_file.h"
#include "trace/read.h"

namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() : path(fs::exists("/dev/shm") ? "/dev/shm/fathom-fuzz-XXXXXX" : "fuzz-XXXXXX") {
    if (mkdtemp(path.data()) == nullptr) __builtin_trap();
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path;
};

bool take(std::string_view& from, std::uint32_t& number) {
  if (from.size() < sizeof number) return false;
  std::memcpy(&number, from.data(), sizeof number);
  from.remove_prefix(sizeof number);
  return true;
}

void write_live(const std::string& path, std::string_view pieces) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (ftruncate(fd, fathom::detail::kLiveBytes) != 0) __builtin_trap();
  std::uint32_t place = 0;
  std::uint32_t size = 0;
  while (take(pieces, place) && take(pieces, size)) {
    const std::string_view piece = pieces.substr(0, size);
    const std::size_t at = std::size_t{place} * 64 % fathom::detail::kLiveBytes;
    if (pwrite(fd, piece.data(), piece.size(), static_cast<off_t>(at)) < 0) __builtin_trap();
    pieces.remove_prefix(piece.size());
  }
  close(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  static const Folder folder;
  const std::string live = folder.path + "/live";
  const std::string part = folder.path + "/part.pftrace";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::uint32_t part_bytes = 0;
  take(rest, part_bytes);
  part_bytes %= 1 << 16;
  write_live(live, rest);
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (ftruncate(fd, part_bytes) != 0) __builtin_trap();
  close(fd);
  try {
    detail::add_leftovers(live, part);
    // What it adds is a multiple of what is there: each piece is read once, names are cut to 4 KB.
    if (fs::file_size(part) > part_bytes + (std::uint64_t{16} << 20) + 5000 * size)
      __builtin_trap();
    (void)trace::read_trace(part);
  } catch (const base::Error&) {
    // A part that cannot be added to, or that holds nothing to read.
  }
  return 0;
}
