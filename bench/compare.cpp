// How long `fathom compare` of two traces takes, from the files to the verdicts: the program
// itself, as a process of its own, against reading one of them.

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "floor.h"
#include "ingest_data.h"
#include "trace/read.h"

namespace {

namespace fs = std::filesystem;
using fathom::bench::print_line;
using fathom::bench::seconds_of;

constexpr int kRounds = 9;

struct Run {
  double seconds = 1e9;
  double rss_mb = 0;
};

Run run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  rusage usage{};
  int status = 1;
  Run measured;
  measured.seconds = seconds_of([&] {
    pid_t child = 0;
    if (posix_spawn(&child, arguments[0], &quiet, nullptr, arguments.data(), environ) != 0) return;
    wait4(child, &status, 0, &usage);
  });
  posix_spawn_file_actions_destroy(&quiet);
  if (status != 0) {
    fmt::print(stderr, "bench_compare: {} failed\n", words[0]);
    std::exit(1);
  }
  measured.rss_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  return measured;
}

Run best(const Run& a, const Run& b) {
  return {std::min(a.seconds, b.seconds), std::max(a.rss_mb, b.rss_mb)};
}

int read_only(const char* path) {
  const fathom::trace::Trace trace = fathom::trace::read_trace(path);
  return trace.spans.size() > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "--read") return read_only(words[2]);
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string before = fathom::bench::make_plain(300);
  const std::string now = FATHOM_BINARY_DIR "/bench_data/compare_now.json";
  fs::remove(now);
  fs::create_symlink(before, now);
  Run reading;
  Run comparing;
  for (int round = 0; round < kRounds; ++round) {
    reading = best(reading, run({self, "--read", before}));
    comparing = best(comparing, run({FATHOM_PROGRAM, "compare", before, "--with", now, "--json"}));
  }
  fmt::print("two traces of {:.0f} MB\n", static_cast<double>(fs::file_size(before)) / 1e6);
  print_line("compare rss", comparing.rss_mb, reading.rss_mb, "MB");
  print_line("compare", comparing.seconds, reading.seconds, "s");
  return 0;
}
