// How fast a trace becomes a Trace. The floor is one thread of simdjson visiting every event once,
// of a file that is in memory already (and for .gz, ISA-L unpacking it before). Ours is a process
// of its own that reads the file, so that its memory can be measured.

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "floor.h"
#include "ingest_data.h"
#include "trace/read.h"

namespace {

namespace fs = std::filesystem;
using fathom::bench::print_line;
using fathom::bench::seconds_of;
using fathom::bench::TraceFile;

constexpr int kRounds = 7;

void inflate(const std::string& packed, std::span<char> text) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(text.data());
  state.avail_out = static_cast<std::uint32_t>(text.size());
  if (isal_inflate(&state) != ISAL_DECOMP_OK) std::abort();
}

struct Run {
  double seconds = 1e9;
  double rss_mb = 0;
  std::size_t spans = 0;
};

// What the child prints: seconds, peak memory, spans.
int run_child(const char* path) {
  Run run;
  try {
    fathom::trace::Trace trace;
    run.seconds = seconds_of([&] { trace = fathom::trace::read_trace(path); });
    run.spans = trace.spans.size();
  } catch (const fathom::base::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{} {} {}\n", run.seconds, static_cast<double>(usage.ru_maxrss) * 1024 / 1e6,
             run.spans);
  return 0;
}

Run read_in_child(const std::string& path) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  FILE* pipe = popen(("'" + self + "' --child '" + path + "'").c_str(), "r");
  Run run;
  if (pipe == nullptr ||
      std::fscanf(pipe, "%lf %lf %zu", &run.seconds, &run.rss_mb, &run.spans) != 3) {
    std::abort();
  }
  pclose(pipe);
  return run;
}

Run best(const Run& a, const Run& b) {
  return {std::min(a.seconds, b.seconds), std::max(a.rss_mb, b.rss_mb), b.spans};
}

struct Figures {
  Run plain, gz;
  double visit_seconds = 1e9;
  double inflate_seconds = 1e9;
  std::size_t events = 0;
};

Figures measure(const TraceFile& file) {
  fathom::bench::VisitFloor floor(file.plain);
  const std::string packed = fathom::bench::read_file(file.gz);
  Figures figures;
  figures.events = floor.events();
  for (int round = 0; round < kRounds; ++round) {
    figures.visit_seconds = std::min(figures.visit_seconds, floor.seconds());
    figures.plain = best(figures.plain, read_in_child(file.plain));
    figures.inflate_seconds =
        std::min(figures.inflate_seconds, seconds_of([&] { inflate(packed, floor.text()); }));
    figures.gz = best(figures.gz, read_in_child(file.gz));
  }
  return figures;
}

// The same trace at other sizes, in MB/s; the floor is the rate at 300 MB.
void measure_growth(const std::vector<int>& sizes, double rate) {
  for (const int megabytes : sizes) {
    const std::string path = fathom::bench::make_plain(megabytes);
    Run run;
    for (int round = 0; round < 3; ++round) run = best(run, read_in_child(path));
    const double size = static_cast<double>(fs::file_size(path)) / 1e6;
    print_line(fmt::format("ingest {} MB", megabytes), size / run.seconds, rate, "MB/s");
  }
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "--child") return run_child(words[2]);
  if (count == 3 && std::string_view(words[1]) == "--make") {  // for bench/python_read.py
    fmt::print("{}\n", fathom::bench::make_plain(std::atoi(words[2])));
    return 0;
  }
  const bool is_full = count == 2 && std::string_view(words[1]) == "--full";
  const TraceFile file = fathom::bench::make_trace(300);
  const double size = static_cast<double>(fs::file_size(file.plain)) / 1e6;
  const Figures figures = measure(file);
  fmt::print("{:.0f} MB, {} events, {} spans\n", size, figures.events, figures.plain.spans);
  const double rate = size / figures.plain.seconds;
  fmt::print("  visit    {:.3f} s  {:5.0f} MB/s\n  plain    {:.3f} s  {:5.0f} MB/s\n",
             figures.visit_seconds, size / figures.visit_seconds, figures.plain.seconds, rate);
  fmt::print("  inflate  {:.3f} s  {:5.0f} MB/s\n  gz       {:.3f} s  {:5.0f} MB/s\n\n",
             figures.inflate_seconds, size / figures.inflate_seconds, figures.gz.seconds,
             size / figures.gz.seconds);

  measure_growth(is_full ? std::vector{30, 1500} : std::vector{30}, rate);
  const double allowed_mb = static_cast<double>(figures.events) * 100 / 1e6 + 64 * 1.048576;
  print_line("ingest gz rss", figures.gz.rss_mb, allowed_mb, "MB");
  print_line("ingest plain rss", figures.plain.rss_mb, allowed_mb, "MB");
  print_line("ingest gz", figures.gz.seconds, figures.inflate_seconds + figures.visit_seconds, "s");
  print_line("ingest plain", figures.plain.seconds, figures.visit_seconds, "s");
  return 0;
}
