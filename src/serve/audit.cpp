#include "serve/audit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/json_scan.h"
#include "base/json_writer.h"

namespace fathom::serve {
namespace {

constexpr std::string_view kHashKey = ",\"hash\":\"";
constexpr std::size_t kHashEnd = kHashKey.size() + 64 + 2;  // and "}
constexpr std::size_t kMostPathBytes = 200;
constexpr std::size_t kMostMethodBytes = 20;
constexpr const char* kNoHash = "0000000000000000000000000000000000000000000000000000000000000000";

std::string time_now() {
  struct timespec now {};
  clock_gettime(CLOCK_REALTIME, &now);
  struct tm parts {};
  gmtime_r(&now.tv_sec, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, now.tv_nsec / 1'000'000);
}

struct ChainedLine {
  std::optional<std::int64_t> number;
  std::string previous;
  std::string hash;
  bool is_whole = false;  // its hash is that of its content
};

ChainedLine chained(std::string_view line) {
  ChainedLine parsed;
  if (line.size() <= kHashEnd || line.substr(line.size() - kHashEnd, kHashKey.size()) != kHashKey)
    return parsed;
  const bool is_json = base::for_each_member(line, base::JsonScanner::Mode::strict,
                                             [&](std::string_view key, std::string_view value) {
                                               if (key == "n")
                                                 parsed.number = base::integer_of(value);
                                               if (key == "previous" && value.size() == 66)
                                                 parsed.previous = value.substr(1, 64);
                                               if (key == "hash" && value.size() == 66)
                                                 parsed.hash = value.substr(1, 64);
                                             });
  parsed.is_whole =
      is_json && to_hex(sha256(line.substr(0, line.size() - kHashEnd))) == parsed.hash;
  return parsed;
}

std::string fault_of(const ChainedLine& line, std::uint64_t expected, const std::string& last) {
  if (!line.is_whole || !line.number)
    return "was changed or cut off: its hash is not that of its content";
  const auto number = static_cast<std::uint64_t>(*line.number);
  if (number > expected)
    return fmt::format("is number {} and follows number {}: {} removed before it", number,
                       expected - 1, number - expected == 1 ? "a line was" : "lines were");
  if (number < expected)
    return fmt::format("is number {} and stands where {} should be: lines were moved or repeated",
                       number, expected);
  if (line.previous != last) return "does not follow from the line before it, which was replaced";
  return {};
}

}  // namespace

Audit::Audit(const std::string& path) : last_hash_(kNoHash) {
  file_ = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) throw base::Error(path, std::strerror(errno), "Name another --audit-log");
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    close(file_);
    throw base::Error(path, "is written by another server", "Name another --audit-log");
  }
  std::ifstream before(path);
  std::string line, last;
  bool ends_in_a_line = true;
  while (std::getline(before, line)) {
    ends_in_a_line = !before.eof();
    last = line;
  }
  if (last.empty()) return;
  const ChainedLine end = chained(last);
  if (!end.is_whole || !end.number) {
    close(file_);
    throw base::Error(path, "its last line is not one of an audit log, or was damaged",
                      "Look at it with fathom audit verify, keep it, and name another --audit-log");
  }
  lines_ = static_cast<std::uint64_t>(*end.number);
  last_hash_ = end.hash;
  if (!ends_in_a_line && ::write(file_, "\n", 1) != 1) is_failing_ = true;
}

Audit::~Audit() {
  close(file_);
}

void Audit::write(const AuditLine& line) {
  const std::lock_guard guard(lock_);
  std::string text;
  base::JsonWriter json(text);
  json.begin_object().key("n").value(lines_.load() + 1).key("time").value(time_now());
  json.key("event").value(line.event);
  const auto text_of = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) json.key(key).value(value);
  };
  text_of("address", line.address);
  text_of("who", line.who);
  text_of("role", line.role);
  text_of("method", line.method.substr(0, kMostMethodBytes));
  text_of("path", line.path.substr(0, kMostPathBytes));
  if (line.status != 0) json.key("status").value(line.status);
  text_of("reason", line.reason);
  json.key("previous").value(last_hash_);
  const std::string hash = to_hex(sha256(text));
  text += fmt::format("{}{}\"}}\n", kHashKey, hash);
  // One call, so that a line is there or not.
  const ssize_t written = ::write(file_, text.data(), text.size());
  is_failing_ = written != static_cast<ssize_t>(text.size());
  if (is_failing_) {  // a full disk, for one; half a line would break the chain
    struct stat now {};
    if (written > 0 && fstat(file_, &now) == 0 && ftruncate(file_, now.st_size - written) != 0)
      last_hash_ = hash;
    return;
  }
  ++lines_;
  last_hash_ = hash;
}

namespace {

// The next line; of one that is longer than any line of a log, the beginning, which is none.
bool next_line(std::istream& from, std::string& line) {
  constexpr std::size_t kLongest = 1 << 20;
  line.clear();
  for (int c = from.get(); c != std::istream::traits_type::eof(); c = from.get()) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
    if (line.size() > kLongest) return true;
  }
  return !line.empty();
}

}  // namespace

AuditVerdict verify_audit(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored))
    throw base::Error(path, file ? "is a directory" : std::strerror(errno));
  AuditVerdict verdict;
  verdict.last_hash = kNoHash;
  std::string text;
  while (next_line(file, text)) {
    const ChainedLine line = chained(text);
    verdict.fault = fault_of(line, verdict.lines + 1, verdict.last_hash);
    if (!verdict.fault.empty()) {
      verdict.at_line = verdict.lines + 1;
      return verdict;
    }
    ++verdict.lines;
    verdict.last_hash = line.hash;
  }
  return verdict;
}

}  // namespace fathom::serve
