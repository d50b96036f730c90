#include "serve/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "analyze/compile/log_records.h"
#include "base/error.h"
#include "base/printable.h"
#include "serve/digest.h"
#include "trace/read/input.h"
#include "trace/read/sniff.h"

namespace fathom::serve {
namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostNameBytes = 200;
constexpr std::string_view kUploadBegin = ".fathom-upload-";

bool is_hidden(std::string_view part) {
  return part.empty() || part.front() == '.';
}

OpenFile open_part(int directory, const std::string& part, int flags) {
  return OpenFile(openat(directory, part.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

std::optional<FileInfo> info_of(int file, std::string name) {
  struct stat found {};
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return {};
  return FileInfo{.name = std::move(name),
                  .bytes = found.st_size,
                  .modified_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

// It is unpacked when it is opened, not to find out what it is.
bool is_archive(int file) {
  constexpr std::string_view kZip = "PK\x03\x04";
  char begin[4] = {};
  return pread(file, begin, sizeof begin, 0) == 4 && std::string_view(begin, 4) == kZip;
}

std::string with_number(const std::string& name, int number) {
  if (number == 1) return name;
  const std::size_t dot = std::min(name.find('.'), name.size());
  return fmt::format("{}-{}{}", name.substr(0, dot), number, name.substr(dot));
}

}  // namespace

OpenFile::~OpenFile() {
  if (file_ >= 0) close(file_);
}

OpenFile::OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

Folder::Folder(const std::string& path)
    : directory_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!directory_.is_open())
    throw base::Error(path, std::strerror(errno), "Name a folder with traces in it");
}

OpenFile Folder::open(std::string_view name) const {
  int directory = directory_.get();
  OpenFile held;
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string part(name.substr(0, slash));
    if (is_hidden(part) || part.find('\0') != std::string::npos) return OpenFile();
    if (slash == std::string_view::npos) {
      OpenFile file = open_part(directory, part, O_RDONLY);
      if (file.is_open() && !info_of(file.get(), {})) return OpenFile();  // a device, a directory
      return file;
    }
    held = open_part(directory, part, O_RDONLY | O_DIRECTORY);
    if (!held.is_open()) return OpenFile();
    directory = held.get();
    name.remove_prefix(slash + 1);
  }
}

Listing Folder::list() {
  const std::lock_guard guard(lock_);
  Listing listing;
  // A descriptor of its own, because reading a directory moves on in it.
  list_into(OpenFile(openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "", 0,
            listing);
  std::ranges::sort(listing.files, [](const FileInfo& a, const FileInfo& b) {
    return std::pair(b.modified_ns, std::cref(a.name).get()) <
           std::pair(a.modified_ns, std::cref(b.name).get());
  });
  return listing;
}

std::optional<FileInfo> Folder::look_at(const std::string& name) {
  const std::lock_guard guard(lock_);
  const OpenFile file = open(name);
  auto info = file.is_open() ? info_of(file.get(), name) : std::nullopt;
  if (info) info->is_openable = is_openable(file.get(), name, *info);
  return info;
}

void Folder::list_into(const OpenFile& directory, const std::string& prefix, int depth,
                       Listing& listing) {
  const int copy = directory.is_open() ? fcntl(directory.get(), F_DUPFD_CLOEXEC, 0) : -1;
  DIR* const entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0) close(copy);
    return;
  }
  while (const dirent* entry = readdir(entries)) {
    const std::string part = entry->d_name;
    if (is_hidden(part)) continue;
    if (listing.files.size() >= kMostListed) {
      listing.is_complete = false;
      break;
    }
    const OpenFile file = open_part(directory.get(), part, O_RDONLY);
    struct stat found {};
    if (!file.is_open() || fstat(file.get(), &found) != 0) continue;
    if (S_ISDIR(found.st_mode) && depth < kMostDepth) {
      list_into(file, prefix + part + "/", depth + 1, listing);
    } else if (auto info = info_of(file.get(), prefix + part)) {
      info->is_openable = is_openable(file.get(), info->name, *info);
      listing.files.push_back(std::move(*info));
    }
  }
  closedir(entries);
}

bool Folder::is_openable(int file, const std::string& name, const FileInfo& info) {
  Seen& seen = seen_[name];
  if (seen.bytes == info.bytes && seen.modified_ns == info.modified_ns) return seen.is_openable;
  seen = {info.bytes, info.modified_ns, false};
  if (is_archive(file)) return seen.is_openable = true;
  try {
    const auto input = trace::Input::open(file, name);
    seen.is_openable = trace::sniff(input->head()).format != trace::Format::foreign ||
                       analyze::is_compile_log(input->head());
  } catch (const base::Error&) {  // empty, or it cannot be read
  }
  return seen.is_openable;
}

bool is_compile_log(const OpenFile& file, const std::string& name) {
  return !is_archive(file.get()) &&
         analyze::is_compile_log(trace::Input::open(file.get(), name)->head());
}

bool is_plain_file_name(std::string_view name) {
  return !is_hidden(name) && name.size() <= kMostNameBytes &&
         name.find('/') == std::string_view::npos && base::printable(name) == name;
}

Upload::Upload(const Folder& folder, std::string name)
    : folder_(folder),
      name_(std::move(name)),
      temporary_(std::string(kUploadBegin) + random_secret().substr(0, 16)),
      file_(openat(folder.directory(), temporary_.c_str(),
                   O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (!file_.is_open()) fail();
}

Upload::~Upload() {
  if (file_.is_open()) unlinkat(folder_.directory(), temporary_.c_str(), 0);
}

bool Upload::fail() {
  problem_ = std::strerror(errno);
  return false;
}

bool Upload::take(std::string_view piece) {
  if (!problem_.empty()) return false;
  while (!piece.empty()) {
    const ssize_t written = write(file_.get(), piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail();
    piece.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<std::string> Upload::finish() {
  constexpr int kMostNumbers = 1000;
  if (!problem_.empty()) return {};
  for (int number = 1; number <= kMostNumbers; ++number) {
    const std::string name = with_number(name_, number);
    if (linkat(folder_.directory(), temporary_.c_str(), folder_.directory(), name.c_str(), 0) == 0)
      return name;
    if (errno != EEXIST) break;
  }
  fail();
  return {};
}

}  // namespace fathom::serve
