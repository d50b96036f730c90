// What recording costs whole programs: CPU time, user and system, of the program with and without
// `fathom profile`, the launcher included. What the launcher prints once the program is over is no
// cost of recording: `fathom report` on the same run does the same work, is measured after each
// pair and taken off; the ratio with it is printed too. Pairs are taken in turn, first one, then
// the other first; the figure is the median of the pairs' ratios.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "child.h"

namespace {

using Command = std::vector<std::string>;

constexpr int kPairs = 31;

struct Program {
  const char* name;
  double allowed;  // ratio
  Command command;
};

constexpr const char* kFilter =
    "format=yuv420p,hwupload,avgblur_opencl=sizeX=5,unsharp_opencl,hwdownload,format=yuv420p";

const std::array<Program, 2> programs = {
    Program{"clpeak", 1.05, {"/usr/bin/clpeak", "--kernel-latency"}},
    Program{"ffmpeg",
            1.02,
            {"/usr/bin/ffmpeg", "-nostdin", "-loglevel", "error", "-init_hw_device",
             "opencl=ocl:0.0", "-filter_hw_device", "ocl", "-f", "lavfi", "-i",
             "testsrc=size=640x360:rate=25:duration=2", "-vf", kFilter, "-f", "null", "-"}}};

double cpu_of(const Command& command) {
  return fathom::bench::run_program(command).cpu_seconds;
}

Command recorded(const Command& command, const std::string& run_file) {
  Command all = {FATHOM_PROGRAM, "profile", "-o", run_file, "--"};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Program& program, const std::string& run_file) {
  if (!std::filesystem::exists(program.command[0])) {
    fmt::print("profile_overhead {}: skipped, {} is not installed\n", program.name,
               program.command[0]);
    return;
  }
  cpu_of(program.command);  // so that its kernels are in PoCL's cache
  std::vector<double> alone;
  std::vector<double> profiled;
  std::vector<double> ratios;
  std::vector<double> with_summary;
  for (int pair = 0; pair < kPairs; ++pair) {
    const auto run_alone = [&] { alone.push_back(cpu_of(program.command)); };
    if (pair % 2 == 0) run_alone();
    const double whole = cpu_of(recorded(program.command, run_file));
    if (pair % 2 != 0) run_alone();
    profiled.push_back(whole - cpu_of({FATHOM_PROGRAM, "report", run_file}));
    ratios.push_back(profiled.back() / alone.back());
    with_summary.push_back(whole / alone.back());
    std::filesystem::remove(run_file);
  }
  std::vector<double> sorted = ratios;
  std::sort(sorted.begin(), sorted.end());
  fmt::print("  {}: ratios of {} pairs from {:.3f} to {:.3f}, allowed {:.2f}\n", program.name,
             kPairs, sorted.front(), sorted.back(), program.allowed);
  fmt::print("  {}: best run against best run {:.3f}\n", program.name,
             *std::min_element(profiled.begin(), profiled.end()) /
                 *std::min_element(alone.begin(), alone.end()));
  fmt::print("  {}: with the summary that is printed afterwards {:.3f}\n", program.name,
             median(with_summary));
  fmt::print("profile_overhead {}: {:.3f} s, floor {:.3f} s, ratio {:.3f}\n", program.name,
             median(profiled), median(alone), median(ratios));
}

}  // namespace

int main() {
  namespace fs = std::filesystem;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const fs::path folder = fs::temp_directory_path() / fmt::format("fathom-bench-{}", getpid());
  fs::create_directories(folder);
  setenv("POCL_CACHE_DIR", FATHOM_BINARY_DIR "/pocl-cache", 1);
  fs::create_directories(FATHOM_BINARY_DIR "/pocl-cache");
  for (const Program& program : programs) measure(program, folder / "run.pftrace");
  fs::remove_all(folder);
  return 0;
}
