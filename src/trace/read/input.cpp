#include "trace/read/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/shell_word.h"
#include "trace/read/unpack.h"
#include "trace/read/zip.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kHeadBytes = 64 * 1024;
constexpr std::size_t kCopyBytes = 1024 * 1024;
constexpr std::size_t kMostNamed = 5;

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw base::Error(name, std::string(what) + ": " + std::strerror(errno));
}

// A file that is gone as soon as nobody uses it.
int open_temporary(const std::string& name) {
  const char* set = std::getenv("TMPDIR");
  const std::string folder = set != nullptr && *set != '\0' ? set : "/tmp";
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  std::string pattern = folder + "/fathom.XXXXXX";
  const int file = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (file < 0) fail(name, "no room for a temporary file");
  ::unlink(pattern.c_str());
  return file;
}

void write_all(int file, const char* bytes, std::size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t written = ::write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(name, "writing a temporary file failed");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

int copy_to_temporary(int from, const std::string& name) {
  const int to = open_temporary(name);
  std::vector<char> buffer(kCopyBytes);
  while (true) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(name, "cannot read");
    if (got == 0) return to;
    write_all(to, buffer.data(), static_cast<std::size_t>(got), name);
  }
}

Packing packing_of(std::string_view bytes) {
  if (bytes.starts_with("\x1F\x8B")) return Packing::gzip;
  if (bytes.starts_with("\x28\xB5\x2F\xFD")) return Packing::zstd;
  // A frame that zstd decoders skip may come first (the seekable variant writes one).
  if (bytes.size() >= 4 && (bytes[0] & 0xF0) == 0x50 && bytes.substr(1, 3) == "\x2A\x4D\x18") {
    return Packing::zstd;
  }
  return Packing::none;
}

}  // namespace

std::shared_ptr<const Input> Input::open(const std::string& path) {
  const std::shared_ptr<Input> input(new Input);
  input->name_ = path;
  input->file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (input->file_ < 0) {
    if (errno == ENOENT) throw base::Error(path, "no such file");
    fail(path, "cannot open");
  }
  input->take_file();
  return input;
}

std::shared_ptr<const Input> Input::open(int descriptor, const std::string& name) {
  const std::shared_ptr<Input> input(new Input);
  input->name_ = name;
  input->file_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (input->file_ < 0) fail(name, "cannot read");
  input->take_file();
  return input;
}

void Input::take_file() {
  struct stat info {};
  if (::fstat(file_, &info) != 0) fail(name_, "cannot read");
  if (S_ISDIR(info.st_mode)) {
    throw base::Error(name_, "is a directory, not a trace",
                      "If it holds the ranks of a job: fathom hta " + base::shell_word(name_));
  }
  // A file that somebody has read a part of is read from there on.
  if (!S_ISREG(info.st_mode) || ::lseek(file_, 0, SEEK_CUR) != 0) {
    const int copy = copy_to_temporary(file_, name_);
    ::close(file_);
    file_ = copy;
    if (::fstat(copy, &info) != 0) fail(name_, "cannot read");
  }
  stored_size_ = static_cast<std::uint64_t>(info.st_size);
  look_at_head();
}

std::shared_ptr<const Input> Input::from_bytes(std::string bytes, std::string name) {
  const std::shared_ptr<Input> input(new Input);
  input->name_ = std::move(name);
  input->bytes_ = std::move(bytes);
  input->stored_size_ = input->bytes_.size();
  input->look_at_head();
  return input;
}

Input::~Input() {
  if (file_ >= 0) ::close(file_);
}

void Input::look_at_head() {
  if (stored_size_ == 0) fail_as_empty();
  std::string start(4, '\0');
  start.resize(read_stored(0, start.data(), start.size()));
  if (start == "PK\x03\x04") {
    take_out_of_zip();
    start.resize(4);
    start.resize(read_stored(0, start.data(), start.size()));
  }
  packing_ = packing_of(start);
  head_.resize(kHeadBytes);
  ContentStream stream(*this);
  head_.resize(stream.read(head_.data(), kHeadBytes));
  if (!head_.empty()) return;
  if (stream.is_damaged()) {
    throw base::Error(name_, "the compressed data is cut off or damaged: nothing can be unpacked");
  }
  fail_as_empty();
}

void Input::fail_as_empty() const {
  throw base::Error(name_, "the file is empty", "Record or export it again");
}

// The one file of the archive takes its place.
void Input::take_out_of_zip() {
  const ReadAt read = [this](std::uint64_t offset, char* to, std::size_t size) {
    return read_stored(offset, to, size);
  };
  const auto members = zip_members(read, stored_size_);
  if (!members) throw base::Error(name_, "a ZIP archive that is cut off or damaged");
  if (members->size() != 1) {
    std::string names;
    for (std::size_t i = 0; i < members->size() && i < kMostNamed; ++i) {
      names += (i == 0 ? " (" : ", ") + (*members)[i].name;
    }
    if (!names.empty()) names += members->size() > kMostNamed ? ", …)" : ")";
    throw base::Error(name_,
                      fmt::format("a ZIP archive with {}{}; Fathom reads archives with one",
                                  base::format_plural(members->size(), "file", "files"), names),
                      "Unpack it and name a file");
  }
  const ZipMember& member = members->front();
  if (member.is_encrypted || (member.method != 0 && member.method != 8)) {
    throw base::Error(name_,
                      member.is_encrypted ? "a ZIP archive with a password"
                                          : "a ZIP archive with an unsupported compression method",
                      "Unpack it first");
  }
  std::string bytes;
  const int to = file_ < 0 ? -1 : open_temporary(name_);
  std::uint64_t size = 0;
  try {
    is_damaged_ = !unpack_member(read, member, [&](std::string_view piece) {
      size += piece.size();
      if (to < 0) {
        bytes.append(piece);
      } else {
        write_all(to, piece.data(), piece.size(), name_);
      }
    });
  } catch (...) {
    if (to >= 0) ::close(to);
    throw;
  }
  if (to >= 0) ::close(file_);
  file_ = to;
  bytes_ = std::move(bytes);
  stored_size_ = size;
  if (size == 0) throw base::Error(name_, "a ZIP archive with an empty or damaged file");
}

std::size_t Input::read_stored(std::uint64_t offset, char* to, std::size_t size) const {
  if (file_ < 0) {
    const std::size_t from = std::min<std::uint64_t>(offset, bytes_.size());
    const std::size_t got = std::min(size, bytes_.size() - from);
    std::memcpy(to, bytes_.data() + from, got);
    return got;
  }
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file_, to + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(name_, "cannot read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string_view Input::map(int file, std::uint64_t size) const {
  if (size == 0) return {};
  if (!mapped_.map(file, size)) fail(name_, "cannot map");
  return mapped_.bytes();
}

std::string_view Input::view() const {
  const std::lock_guard lock(view_mutex_);
  if (has_view_) return view_;
  if (packing_ == Packing::none) {
    view_ = file_ < 0 ? std::string_view(bytes_) : map(file_, stored_size_);
  } else {
    const int file = open_temporary(name_);
    std::vector<char> buffer(kCopyBytes);
    ContentStream stream(*this);
    std::uint64_t size = 0;
    try {
      while (const std::size_t got = stream.read(buffer.data(), buffer.size())) {
        write_all(file, buffer.data(), got, name_);
        size += got;
      }
      view_ = map(file, size);
    } catch (...) {
      ::close(file);
      throw;
    }
    ::close(file);
  }
  has_view_ = true;
  return view_;
}

}  // namespace fathom::trace
