#include "base/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>

#include "base/error.h"

namespace fathom::base {
namespace {

// Where a symbolic link leads, so that the link stays and what it points to is replaced.
std::string end_of_links(std::string path) {
  constexpr int kMostLinks = 40;
  std::error_code none;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, none); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, none);
    if (none) break;
    path = (std::filesystem::path(path).parent_path() / next).string();
  }
  return path;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

mode_t umask_now() {
  const mode_t now = ::umask(022);
  ::umask(now);
  return now;
}

// Files that have a name and are not in their place yet: what the signals that end a program by
// default take away. A handler may look at nothing but these.
constexpr std::size_t kMostNamed = 16;
constexpr std::size_t kLongestName = 4096;
struct NamedTemporary {
  std::atomic<bool> is_taken = false;
  std::atomic<bool> is_there = false;
  char path[kLongestName] = {};
};
NamedTemporary named_temporaries[kMostNamed];
constexpr int kEndingSignals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};

// It was the default that would have ended the program, and does now.
void remove_named_and_end(int signal) {
  for (const NamedTemporary& each : named_temporaries) {
    if (each.is_there.load()) ::unlink(each.path);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Signals that the program ignores, or answers by itself, stay its own.
void watch_signals() {
  for (const int signal : kEndingSignals) {
    struct sigaction known = {};
    if (::sigaction(signal, nullptr, &known) != 0 || known.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {};
    ours.sa_handler = remove_named_and_end;
    ::sigaction(signal, &ours, nullptr);
  }
}

void remember(const std::string& path) {
  static std::once_flag once;
  std::call_once(once, watch_signals);
  if (path.size() >= kLongestName) return;
  for (NamedTemporary& each : named_temporaries) {
    if (each.is_taken.exchange(true)) continue;
    path.copy(each.path, path.size());
    each.path[path.size()] = '\0';
    each.is_there = true;
    return;
  }
}

void forget(const std::string& path) {
  for (NamedTemporary& each : named_temporaries) {
    if (!each.is_there.load() || path != each.path) continue;
    each.is_there = false;
    each.is_taken = false;
    return;
  }
}

}  // namespace

class Output::Packer {
 public:
  using Sink = std::function<void(std::string_view)>;
  virtual ~Packer() = default;
  // Packs `bytes`; `last` ends the stream.
  virtual void pack(std::string_view bytes, bool last, const Sink& sink) = 0;

 protected:
  std::array<char, 1 << 16> packed_;
};

class Output::Gzip : public Packer {
 public:
  // 15 + 16: a gzip header; level 1 is three times as fast as the default and 20 % larger.
  Gzip() { deflateInit2(&stream_, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); }
  ~Gzip() override { deflateEnd(&stream_); }

  void pack(std::string_view bytes, bool last, const Sink& sink) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      sink({packed_.data(), packed_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_ = {};
};

class Output::Zstd : public Packer {
 public:
  void pack(std::string_view bytes, bool last, const Sink& sink) override {
    ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out = {packed_.data(), packed_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      sink({packed_.data(), out.pos});
    } while (ZSTD_isError(left) == 0 && (in.pos < in.size || (last && left != 0)));
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{ZSTD_createCCtx(), ZSTD_freeCCtx};
};

Output::Output(const std::string& path) : path_(path), target_(end_of_links(path)) {
  expect_writable(path);
  struct stat known = {};
  const bool exists = ::stat(target_.c_str(), &known) == 0;
  is_in_place_ = exists && !S_ISREG(known.st_mode);  // a pipe or device is written to, not replaced
  if (is_in_place_) {
    file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail_to_write(path_, errno);
  } else {
    open_temporary();
    // Whoever could read the file that was there can read the one that takes its place.
    if (exists && ::fchown(file_, known.st_uid, known.st_gid) != 0) errno = 0;
    ::fchmod(file_, exists ? known.st_mode & 07777U : 0666U & ~umask_now());
  }
  if (path.ends_with(".gz")) packer_ = std::make_unique<Gzip>();
  if (path.ends_with(".zst")) packer_ = std::make_unique<Zstd>();
  buffer_.reserve(kBufferBytes + kBufferBytes / 4);
}

Output::Output(int descriptor, const std::string& name)
    : path_(name), is_in_place_(true), file_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
  if (file_ < 0) fail_to_write(path_, errno);
  buffer_.reserve(kBufferBytes + kBufferBytes / 4);
}

Output::~Output() {
  if (file_ >= 0) ::close(file_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget(temporary_);
}

// A file without a name is gone with the process, whatever ends it; it gets its name in `finish`.
// Where there are none (some network file systems), one with a name.
void Output::open_temporary() {
  const std::string folder = folder_of(target_);
  if (::access("/proc/self/fd", X_OK) == 0) {
    file_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file_ >= 0) return;
  }
  std::string pattern = folder + "/fathom-XXXXXX.part";
  file_ = ::mkostemps(pattern.data(), 5, O_CLOEXEC);
  if (file_ < 0) fail_to_write(path_, errno);
  temporary_ = pattern;
  remember(temporary_);
}

void Output::name_temporary() {
  const std::string unnamed = fmt::format("/proc/self/fd/{}", file_);
  const std::string folder = folder_of(target_);
  for (int attempt = 0;; ++attempt) {
    const std::string name = fmt::format("{}/fathom-{}-{}.part", folder, ::getpid(), attempt);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST || attempt == 1000) fail_to_write(path_, errno);
  }
}

void expect_writable(const std::string& path) {
  const std::string target = end_of_links(path);
  struct stat known = {};
  const bool exists = ::stat(target.c_str(), &known) == 0;
  if (!exists && errno != ENOENT) fail_to_write(path, errno);
  if (exists && S_ISDIR(known.st_mode)) fail_to_write(path, EISDIR);
  // A file is made anew beside its place, and takes it; a pipe or a device is written to.
  const bool is_made = !exists || S_ISREG(known.st_mode);
  const std::string& written = is_made ? folder_of(target) : target;
  if (::access(written.c_str(), is_made ? W_OK | X_OK : W_OK) != 0) fail_to_write(path, errno);
}

void fail_to_write(const std::string& path, int why) {
  if (why == EISDIR) {
    throw Error(path, "cannot be written: it is a directory", "Name a file in it");
  }
  if (why == ENOENT || why == ENOTDIR) {
    throw Error(path, "cannot be written: the directory does not exist",
                "Create it, or name another file");
  }
  throw Error(path, std::string("cannot be written: ") + std::strerror(why),
              why == ENOSPC ? "Free some space, or name another file" : "Name another file");
}

void Output::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Output::flush() {
  if (packer_) {
    packer_->pack(buffer_, false, [this](std::string_view packed) { write_all(packed); });
  } else {
    write_all(buffer_);
  }
  buffer_.clear();
}

void Output::finish() {
  flush();
  if (packer_) packer_->pack({}, true, [this](std::string_view packed) { write_all(packed); });
  if (!is_in_place_ && temporary_.empty()) name_temporary();
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) fail_to_write(path_, errno);
  if (is_in_place_) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_to_write(path_, errno);
  forget(temporary_);
  temporary_.clear();
}

}  // namespace fathom::base
