// How long `fathom hta --json` takes, from the file to all its answers: the program itself, as a
// process of its own, against one thread of simdjson visiting every event of the same file once.

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "floor.h"
#include "ingest_data.h"

namespace {

namespace fs = std::filesystem;
using fathom::bench::print_line;
using fathom::bench::seconds_of;

constexpr int kRounds = 9;
constexpr int kRanks = 8;

struct Run {
  double seconds = 1e9;
  double rss_mb = 0;
};

Run run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  rusage usage{};
  int status = 1;
  Run measured;
  measured.seconds = seconds_of([&] {
    pid_t child = 0;
    if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
      return;
    wait4(child, &status, 0, &usage);
  });
  if (status != 0) {
    fmt::print(stderr, "bench_hta: {} failed\n", words[0]);
    std::exit(1);
  }
  measured.rss_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  return measured;
}

Run best(const Run& a, const Run& b) {
  return {std::min(a.seconds, b.seconds), std::max(a.rss_mb, b.rss_mb)};
}

Run analyze(const std::string& path) {
  return run(
      {FATHOM_PROGRAM, "hta", path, "--json", FATHOM_BINARY_DIR "/bench_data/hta_findings.json"});
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
  Run of_one;
  Run of_all;
  for (int round = 0; round < 3; ++round) {
    of_one = best(of_one, analyze(one));
    of_all = best(of_all, analyze(all));
  }
  print_line(fmt::format("hta {} ranks", kRanks), of_all.seconds, of_one.seconds * kRanks, "s");
  const double allowed_mb = static_cast<double>(floor.events()) * 120 / 1e6 + 64 * 1.048576;
  print_line(fmt::format("hta {} ranks rss", kRanks), of_all.rss_mb, allowed_mb, "MB");
}

}  // namespace

int main() {
  const std::string file = fathom::bench::make_plain(300);
  const double size = static_cast<double>(fs::file_size(file)) / 1e6;
  double visit_seconds = 1e9;
  double python_seconds = 1e9;
  std::size_t events = 0;
  Run ours;
  {
    fathom::bench::VisitFloor floor(file);
    events = floor.events();
    for (int round = 0; round < kRounds; ++round) {
      visit_seconds = std::min(visit_seconds, floor.seconds());
      ours = best(ours, analyze(file));
    }
  }
  python_seconds =
      run({"python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", file}).seconds;
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
