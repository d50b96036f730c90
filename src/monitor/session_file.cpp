#include "monitor/session_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/output.h"
#include "monitor/session_lines.h"

namespace fathom::monitor {
namespace {

constexpr std::size_t kTailBytes = 65'536;

// An open file, closed in the end.
struct Descriptor {
  explicit Descriptor(int which) : number(which) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  int number;
};

std::string session_id_of(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  if (name.ends_with(kSessionSuffix)) name.resize(name.size() - kSessionSuffix.size());
  return name;
}

// The last line that is whole.
std::string last_line(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  if (size <= 0) return {};
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(kTailBytes));
  std::string tail(static_cast<std::size_t>(size - from), '\0');
  const ssize_t got = ::pread(file, tail.data(), tail.size(), from);
  tail.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  if (tail.empty() || tail.back() != '\n') return {};
  tail.pop_back();
  const std::size_t begin = tail.rfind('\n');
  return begin == std::string::npos ? tail : tail.substr(begin + 1);
}

bool ends_with_line_break(int file) {
  char last = '\n';
  const off_t size = ::lseek(file, 0, SEEK_END);
  return size <= 0 || (::pread(file, &last, 1, size - 1) == 1 && last == '\n');
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Not over a file that is there.
bool rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // A file system that cannot promise it.
  return errno == EINVAL && ::rename(from.c_str(), to.c_str()) == 0;
}

// The lines of a file; a last one that is cut off is not right, like any other that is damaged.
LineReader read_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw base::Error(path, std::string("cannot be read: ") + std::strerror(errno));
  LineReader reader;
  reader.id_if_unknown = session_id_of(path);
  for (std::string line; std::getline(file, line);) reader.take(line);
  if (!reader.record) {
    MonitorSession empty;
    empty.id = reader.id_if_unknown;
    empty.name = "(damaged)";
    reader.record.emplace(std::move(empty));
  }
  return reader;
}

}  // namespace

// Under its name only once it is locked and has its first line: whoever looks into the folder
// meanwhile would take it for one whose writer died.
SessionFile SessionFile::create(const std::string& path, std::string_view first_line) {
  static std::atomic<unsigned> number = 0;
  const std::string unfinished = fmt::format("{}.{}-{}.new", path, ::getpid(), ++number);
  const int file =
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
  if (file < 0) base::fail_to_write(path, errno);
  SessionFile made(path, file);
  ::flock(file, LOCK_EX | LOCK_NB);
  int problem = write_all(file, first_line) ? 0 : errno;
  if (problem == 0 && !rename_to_new(unfinished, path)) problem = errno;
  if (problem == 0) return made;
  ::unlink(unfinished.c_str());
  base::fail_to_write(path, problem);
}

SessionFile::SessionFile(SessionFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      problem_(std::move(other.problem_)) {}

SessionFile::~SessionFile() {
  if (file_ >= 0) ::close(file_);
}

void SessionFile::write(std::string_view lines) {
  if (write_all(file_, lines)) {
    problem_.clear();
  } else {
    problem_ = path_ + ": cannot be written: " + std::strerror(errno);
  }
}

std::optional<MonitorSession> list_session(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  const bool may_write = file.number >= 0;
  if (!may_write) file.number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.number < 0) return {};
  std::string first;
  std::getline(std::ifstream(path, std::ios::binary), first);
  auto session = read_start(first);
  if (session && read_end(last_line(file.number), *session)) return session;
  const bool is_running = ::flock(file.number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_running && session) return session;  // by another process; what it counted is not known

  LineReader reader = read_lines(path);
  MonitorSession all = reader.record->session();
  if (all.id != session_id_of(path)) all.id = session_id_of(path);
  if (is_running || reader.has_end) return all;
  all.was_interrupted = true;
  all.stopped_ns = reader.record->last_time_ns();
  if (may_write) {
    write_all(file.number, (ends_with_line_break(file.number) ? "" : "\n") + end_line(all));
  }
  return all;
}

SessionRecord read_session(const std::string& path) {
  LineReader reader = read_lines(path);
  reader.record->settings().id = session_id_of(path);
  return std::move(*reader.record);
}

}  // namespace fathom::monitor
