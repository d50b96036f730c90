#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace fathom::record {

// How a program ended and what it said.
struct Ran {
  int status = 0;  // as waitpid gives it
  std::string out;
  std::string err;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs a command to its end with these variables added to the environment, in a folder of its own;
// kernels that PoCL compiled are kept in the build folder. A program that hangs is killed after
// two minutes.
Ran run(const std::vector<std::string>& command, const Variables& variables = {});

// The same, recorded. `runs` has a trace for each process that wrote one.
struct Recorded {
  Ran ran;
  std::vector<trace::Trace> runs;
};
Recorded run_recorded(const std::vector<std::string>& command, const Variables& variables = {});

std::string opencl_program();  // the path of the program whose every command is known

// What a run holds, in the words of the program's truth lines.
struct Item {
  std::string name;
  std::int64_t duration_ns = 0;
  std::int64_t bytes = -1;  // -1 where not said
  std::int64_t correlation = -1;
  std::string args;
};
std::vector<Item> items_of(const trace::Trace& run, trace::SpanKind kind, const std::string& name);
std::size_t count_of(const trace::Trace& run, trace::SpanKind kind);

// The lines that begin with "truth".
struct Truth {
  std::string kind;
  std::string name;
  std::int64_t count = 0;  // or nanoseconds of a duration
  std::int64_t bytes = 0;  // of each; 0 where there is nothing to compare
};
std::vector<Truth> truths_of(const std::string& err);

}  // namespace fathom::record
