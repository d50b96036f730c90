#pragma once

#include <string>
#include <vector>

namespace fathom::bench {

// What a program took that ran by itself, what it printed thrown away.
struct ChildRun {
  double seconds = 1e9;      // wall
  double cpu_seconds = 1e9;  // of it and of all it waited for
  double rss_mb = 0;         // at most; of one whose parent had more when it started it, that
};

// Ends the benchmark where the program fails.
ChildRun run_program(std::vector<std::string> words);

// The shortest times, and the most memory.
ChildRun best(const ChildRun& a, const ChildRun& b);

}  // namespace fathom::bench
