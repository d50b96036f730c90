#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "monitor/session_record.h"

// The files of sessions: FOLDER/ID.session.jsonl, and FOLDER/ID.json for the report.
namespace fathom::monitor {

constexpr std::string_view kSessionSuffix = ".session.jsonl";

// A file that only grows. While it is open it is locked, so that another process can tell a session
// that runs from one whose writer died. What was written survives the end of this process, however
// it ends.
class SessionFile {
 public:
  // Throws base::Error; also where it is there.
  static SessionFile create(const std::string& path, std::string_view first_line);
  SessionFile(SessionFile&& other) noexcept;
  SessionFile& operator=(SessionFile&&) = delete;
  ~SessionFile();

  void write(std::string_view lines);
  const std::string& problem() const { return problem_; }  // why it could not be written, last

 private:
  SessionFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_ = -1;
  std::string problem_;
};

// What the list of sessions says of one, without reading all of its file where that can be. A file
// whose writer died gets the end that it lacks.
std::optional<MonitorSession> list_session(const std::string& path);

// All of it, as far as it goes. Throws base::Error where it cannot be opened.
SessionRecord read_session(const std::string& path);

}  // namespace fathom::monitor
