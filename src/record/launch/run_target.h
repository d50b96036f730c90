#pragma once

#include <string>

namespace fathom::record {

// The file that a run is to go to, claimed before the program starts. A link keeps pointing where
// it does, and a pipe or a device is written to, never replaced. Two recordings do not share a
// file.
class RunTarget {
 public:
  // Throws base::Error where it is a directory, cannot be written, is being recorded to, or, unless
  // `force`, is a file with something else in it than a run.
  RunTarget(const std::string& name, bool force);
  ~RunTarget();  // leaves no file where there was none and no run came
  RunTarget(const RunTarget&) = delete;
  RunTarget& operator=(const RunTarget&) = delete;

  const std::string& name() const { return name_; }  // as it was given
  const std::string& path() const { return path_; }  // absolute, links followed
  bool is_file() const { return is_file_; }          // else a pipe or a device

  // Puts a file that is whole into its place: by renaming it where that is a file, else by copying.
  void fill(const std::string& whole);

 private:
  void claim();

  std::string name_;
  std::string path_;
  bool is_file_ = true;
  bool is_made_ = false;  // here, and empty until there is a run
  int lock_ = -1;
};

// Whether a file holds a run of Fathom's, by its first bytes.
bool is_run(int file);

// Removes the runs name-FROM to name-TO that are left of an earlier recording; returns how many.
int remove_stale_runs(const std::string& name, int from, int to);

}  // namespace fathom::record
