#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

// Work that is done in a process of its own, because it may hang, crash, or hold on to a GPU.
namespace fathom::devices {

struct ChildOutput {
  std::string text;  // of standard output; at most 1 MB
  bool has_started = false;
  bool was_in_time = false;    // it ended its output; else it was killed
  bool has_succeeded = false;  // it ended with status 0
};

// A program with these arguments, the first of which is its path. No shell is involved; its input
// and its errors are /dev/null.
ChildOutput run_program(const std::vector<std::string>& words, std::chrono::milliseconds at_most);

// The text that a function gives in a copy of this process.
ChildOutput run_copy(const std::function<std::string()>& work, std::chrono::milliseconds at_most);

}  // namespace fathom::devices
