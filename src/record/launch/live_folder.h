#pragma once

#include <string>

namespace fathom::record {

// A folder in memory, where the recorded processes keep what they have not written yet: it is still
// there when they are gone, however they ended. Removed with all that is in it.
class LiveFolder {
 public:
  LiveFolder();
  ~LiveFolder();
  LiveFolder(const LiveFolder&) = delete;
  LiveFolder& operator=(const LiveFolder&) = delete;

  const std::string& path() const { return path_; }  // empty where the system has no such place

 private:
  std::string path_;
  int lock_ = -1;  // held while this lives: a folder without it is one that nobody needs
};

}  // namespace fathom::record
