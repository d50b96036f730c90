// How long `fathom hta --json` takes, from the file to all its answers: the program itself, as a
// process of its own, against one thread of simdjson visiting every event of the same file once.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "child.h"
#include "floor.h"
#include "ingest_data.h"

namespace {

namespace fs = std::filesystem;
using fathom::bench::ChildRun;
using fathom::bench::print_line;
using fathom::bench::run_program;

constexpr int kRounds = 9;
constexpr int kRanks = 8;
constexpr const char* kFindings = FATHOM_BINARY_DIR "/bench_data/hta_findings.json";

// What the child prints: seconds, peak memory. Through a small process, for a process begins with
// the peak of the one that started it, and this one holds the whole trace.
int run_child(const char* path) {
  const ChildRun measured = run_program({FATHOM_PROGRAM, "hta", path, "--json", kFindings});
  fmt::print("{} {}\n", measured.seconds, measured.rss_mb);
  return 0;
}

ChildRun analyze(const std::string& path) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  FILE* pipe = popen(fmt::format("'{}' --child '{}'", self, path).c_str(), "r");
  ChildRun measured;
  if (pipe == nullptr || std::fscanf(pipe, "%lf %lf", &measured.seconds, &measured.rss_mb) != 2) {
    std::abort();
  }
  pclose(pipe);
  return measured;
}

// A directory of ranks that are all the same file: links to it.
std::string make_ranks(const std::string& file, int count) {
  const fs::path folder = fmt::format("{}/bench_data/{}_ranks", FATHOM_BINARY_DIR, count);
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (int rank = 0; rank < count; ++rank) {
    fs::create_symlink(file, folder / fmt::format("rank{}.json", rank));
  }
  return folder.string();
}

void measure_ranks() {
  const std::string file = fathom::bench::make_plain(100);
  const fathom::bench::VisitFloor floor(file);
  const std::string one = make_ranks(file, 1);
  const std::string all = make_ranks(file, kRanks);
  ChildRun of_one;
  ChildRun of_all;
  for (int round = 0; round < 3; ++round) {
    of_one = best(of_one, analyze(one));
    of_all = best(of_all, analyze(all));
  }
  print_line(fmt::format("hta {} ranks", kRanks), of_all.seconds, of_one.seconds * kRanks, "s");
  const double allowed_mb = static_cast<double>(floor.events()) * 120 / 1e6 + 64 * 1.048576;
  print_line(fmt::format("hta {} ranks rss", kRanks), of_all.rss_mb, allowed_mb, "MB");
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "--child") return run_child(words[2]);
  const std::string file = fathom::bench::make_plain(300);
  const double size = static_cast<double>(fs::file_size(file)) / 1e6;
  double visit_seconds = 1e9;
  std::size_t events = 0;
  ChildRun ours;
  {
    fathom::bench::VisitFloor floor(file);
    events = floor.events();
    for (int round = 0; round < kRounds; ++round) {
      visit_seconds = std::min(visit_seconds, floor.seconds());
      ours = best(ours, analyze(file));
    }
  }
  const double python_seconds =
      run_program({"python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", file})
          .seconds;
  fmt::print("{:.0f} MB, {} events\n", size, events);
  fmt::print("  visit             {:.3f} s\n  fathom hta        {:.3f} s\n", visit_seconds,
             ours.seconds);
  fmt::print("  python json.load  {:.3f} s, {:.0f} times ours\n\n", python_seconds,
             python_seconds / ours.seconds);
  measure_ranks();
  const double allowed_mb = static_cast<double>(events) * 120 / 1e6 + 64 * 1.048576;
  print_line("hta rss", ours.rss_mb, allowed_mb, "MB");
  print_line("hta", ours.seconds, visit_seconds, "s");
  return 0;
}
