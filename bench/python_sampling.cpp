// What sampling costs a Python program: the time that a script of pure Python says it took, with
// `fathom profile --python` and alone. Pairs are taken in turn, first one, then the other first;
// the figure is the median of the pairs' ratios. The program's own clock is read, so that starting
// it, writing the run and printing the report count for neither. Where the machine has one
// processor, or others use all, sampling takes its time from the program; the processor time of
// sampling is printed too.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "child.h"

namespace {

constexpr int kPairs = 15;

// Calls, loops and allocations, 30 frames deep; the seconds go to a file.
constexpr const char* kScript = R"(
import sys, time
def leaf(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return [total] * 3
def deep(depth, n):
    return deep(depth - 1, n) if depth else leaf(n)
begin = time.perf_counter()
for _ in range(4000):
    deep(30, 3000)
open(sys.argv[1], "w").write(str(time.perf_counter() - begin))
)";

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  namespace fs = std::filesystem;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const fs::path folder = fs::temp_directory_path() / fmt::format("fathom-bench-{}", getpid());
  fs::create_directories(folder);
  const std::string script = folder / "script.py";
  const std::string seconds = folder / "seconds";
  const std::string run_file = folder / "run.pftrace";
  std::ofstream(script) << kScript;
  const auto seconds_of = [&](std::vector<std::string> before, double& cpu) {
    before.insert(before.end(), {"/usr/bin/python3", script, seconds});
    cpu = fathom::bench::run_program(before).cpu_seconds;
    double took = 0;
    std::ifstream(seconds) >> took;
    return took;
  };
  std::vector<double> alone;
  std::vector<double> sampled;
  std::vector<double> ratios;
  std::vector<double> cpu_ratios;
  for (int pair = 0; pair < kPairs; ++pair) {
    double cpu_alone = 0;
    double cpu_sampled = 0;
    const auto run_alone = [&] { alone.push_back(seconds_of({}, cpu_alone)); };
    if (pair % 2 == 0) run_alone();
    sampled.push_back(
        seconds_of({FATHOM_PROGRAM, "profile", "--python", "-o", run_file, "--"}, cpu_sampled));
    cpu_sampled -= fathom::bench::run_program({FATHOM_PROGRAM, "report", run_file}).cpu_seconds;
    if (pair % 2 != 0) run_alone();
    ratios.push_back(sampled.back() / alone.back());
    cpu_ratios.push_back(cpu_sampled / cpu_alone);
    fs::remove(run_file);
  }
  std::vector<double> sorted = ratios;
  std::sort(sorted.begin(), sorted.end());
  fmt::print("  ratios of {} pairs from {:.3f} to {:.3f}, allowed 1.02\n", kPairs, sorted.front(),
             sorted.back());
  fmt::print("  processor time, the launcher's included: ratio {:.3f}\n", median(cpu_ratios));
  fmt::print("python_sampling: {:.3f} s, floor {:.3f} s, ratio {:.3f}\n", median(sampled),
             median(alone), median(ratios));
  fs::remove_all(folder);
  return 0;
}
