#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fathom::cli {

struct Outcome {
  int status = -1;  // -1 where a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
  std::int64_t most_memory = 0;  // resident, in bytes
};

struct RunOptions {
  std::string folder = ".";  // that it is started in
  std::string input = "/dev/null";
  std::string output = {};                  // where standard output goes; caught where empty
  std::string columns = {};                 // the variable COLUMNS; not there where it is empty
  std::vector<std::string> under = {};      // a program that runs it, with its options
  bool own_group = false;                   // a process group of its own, as a terminal gives it
  std::function<void(pid_t)> started = {};  // called with its id
};

// Runs the built program with these arguments and waits for it.
Outcome run_program(const std::vector<std::string>& arguments, const RunOptions& options = {});

// A folder for one test's files, empty at the start, gone at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const;  // returns its path

 private:
  std::string folder_;
};

std::string content_of(const std::string& path);

}  // namespace fathom::cli
