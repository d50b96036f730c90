#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "record/launch/live_folder.h"
#include "record/launch/run_target.h"

namespace fathom::record {

// What became of the parts of a run.
struct JoinedRun {
  std::size_t processes = 0;  // whose parts are in the run
  std::vector<std::string>
      still_going;  // parts of processes that outlived the command, left beside it
};

// A folder beside a run file, where each process of the run writes a part of its own. Parts are
// Perfetto traces, and traces that follow each other in a file are a trace: joining is appending.
class RunParts {
 public:
  // Throws base::Error where it cannot be written, or is not to be: run_target.h.
  explicit RunParts(const std::string& run_file, bool force = false);
  ~RunParts();  // removes what was joined, and the folder
  RunParts(const RunParts&) = delete;
  RunParts& operator=(const RunParts&) = delete;

  // For FATHOM_RUN_FILE: "%p" is where the process id goes.
  std::string pattern() const;
  // A part for what the launcher records of the program itself.
  std::string own_part(const std::string& name) const { return folder_ + "/" + name + ".pftrace"; }
  // For FATHOM_LIVE_FOLDER; empty where there is none.
  const std::string& live_folder() const { return live_.path(); }

  // Given a live file and a part, adds to the part what the live file has beyond it.
  using Complete = std::function<void(const std::string& live, const std::string& part)>;

  // Makes the run file of the parts, `first` (a Perfetto trace, or nothing) before them. Each is
  // completed first, where its process had no time to write all that it did. A part
  // that a process still writes stays a file of its own beside the run. A process that begins to
  // record only later makes the folder anew and leaves its part there.
  // Throws base::Error where the run cannot be written; the parts stay then, and are named.
  JoinedRun join(std::string_view first, const Complete& complete = {});

  // Where the run can be read while this lives; of a pipe or a device, a copy.
  std::string readable() const;

 private:
  std::string whole() const;
  JoinedRun join(std::string_view first, const std::vector<std::filesystem::path>& parts,
                 const Complete& complete);

  RunTarget target_;
  std::string folder_;
  LiveFolder live_;
  std::vector<std::string> joined_;  // parts that are in the run
};

// "run.pftrace" and 3 → "run-3.pftrace".
std::string numbered(const std::string& name, int number);

// Makes an empty file; false where there is one of that name already.
bool reserve(const std::string& name);

// Reserves `name`, or the first of name-2, name-3, … that is free: runs started at the same time do
// not overwrite each other. The file is left behind empty.
std::string reserve_run_file(const std::string& name);
std::string reserve_numbered_run_file(const std::string& name);  // of name-1, name-2, …

}  // namespace fathom::record
