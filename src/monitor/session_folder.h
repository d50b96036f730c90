#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "fathom/monitor.h"

namespace fathom::monitor {

// The sessions of a folder as their files have them, those that run too. Any thread may ask: it
// reads files, which may take a while, under a lock that is its own.
class SessionFolder {
 public:
  using Listing = std::map<std::string, MonitorSession>;  // by id

  explicit SessionFolder(std::string path) : path_(std::move(path)) {}

  // Looks into the folder again. A file that is as long as it was is as it was. A session whose
  // writer died gets the end and the report that it lacks.
  Listing list();

  const std::string& path() const { return path_; }
  std::string file_of(const std::string& id) const;
  std::string report_of(const std::string& id) const;
  static bool is_id(std::string_view id);

 private:
  struct Known {
    MonitorSession session;
    std::uintmax_t bytes = 0;
  };
  std::string path_;
  std::mutex lock_;
  std::map<std::string, Known> known_;
};

// Writes the report of a session that has ended; false where it cannot be: a full disk keeps no
// session from ending, and all of the report can be had again from the session's file.
bool write_report(const std::string& path, const SessionReport& report);

}  // namespace fathom::monitor
