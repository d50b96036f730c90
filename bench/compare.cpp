// How long `fathom compare` of two traces takes, from the files to the verdicts: the program
// itself, as a process of its own, against reading one of them.

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "child.h"
#include "floor.h"
#include "ingest_data.h"
#include "trace/read.h"

namespace {

namespace fs = std::filesystem;
using fathom::bench::ChildRun;
using fathom::bench::print_line;
using fathom::bench::run_program;

constexpr int kRounds = 9;

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
  ChildRun reading;
  ChildRun comparing;
  for (int round = 0; round < kRounds; ++round) {
    reading = best(reading, run_program({self, "--read", before}));
    comparing =
        best(comparing, run_program({FATHOM_PROGRAM, "compare", before, "--with", now, "--json"}));
  }
  fmt::print("two traces of {:.0f} MB\n", static_cast<double>(fs::file_size(before)) / 1e6);
  print_line("compare rss", comparing.rss_mb, reading.rss_mb, "MB");
  print_line("compare", comparing.seconds, reading.seconds, "s");
  return 0;
}
