#pragma once

#include <string>
#include <vector>

namespace fathom::cli {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

// Runs the built program with these arguments and waits for it.
Outcome run_program(const std::vector<std::string>& arguments);

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
