#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "serve/digest.h"

// Who did what, and who was refused: one line of JSON each, chained by hashes.
//
// A line holds its number, the hash of the line before it and its own hash, which is the SHA-256 of
// everything before it in the line. Whoever changes, removes or moves a line breaks the chain
// there. A chain cannot show that its last lines are gone, nor that all of it was written anew: for
// these, compare the number of lines and the last hash with what was noted elsewhere
// (docs/server.md).
namespace fathom::serve {

struct AuditLine {
  std::string_view event;  // "request", "started", "stopped"
  std::string_view address = {};
  std::string_view who = {};  // the name of the token
  std::string_view role = {};
  std::string_view method = {};
  std::string_view path = {};  // without the query
  int status = 0;
  std::string_view reason = {};  // why it was refused
};

class Audit {
 public:
  // Goes on with the file where there is one, which no other server may use at the same time.
  // Throws base::Error.
  explicit Audit(const std::string& path);
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Any thread may call these.
  void write(const AuditLine& line);
  std::uint64_t lines() const { return lines_; }
  bool is_failing() const { return is_failing_; }  // the last line could not be written

 private:
  std::mutex lock_;
  int file_ = -1;
  std::atomic<std::uint64_t> lines_ = 0;
  std::string last_hash_;
  std::atomic<bool> is_failing_ = false;
};

struct AuditVerdict {
  std::uint64_t lines = 0;
  std::string last_hash;      // of the last good line
  std::uint64_t at_line = 0;  // of the file, where the first fault is
  std::string fault;          // empty where there is none
};

// Throws base::Error where the file cannot be read.
AuditVerdict verify_audit(const std::string& path);

}  // namespace fathom::serve
