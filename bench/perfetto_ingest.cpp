// How fast a run file becomes a Trace. The floor is one thread of protozero visiting every field of
// every packet and of its event once, of the same file in memory. The run is recorded by the
// benchmark: two threads, nested scopes, a hundred names.

#include <fathom/fathom.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <thread>

#include "perfetto/fields.h"
#include "trace/read.h"

namespace {

namespace pf = fathom::perfetto;

constexpr int kRounds = 9;
constexpr int kThreads = 2;
constexpr int kSteps = 160'000;  // a thread
constexpr int kScopesAStep = 10;

template <typename Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void record_steps() {
  for (int i = 0; i < kSteps; ++i) {
    FATHOM_SCOPE("step");
    for (int j = 0; j < (kScopesAStep - 1) / 3; ++j) {
      FATHOM_SCOPE("layer");
      { FATHOM_SCOPE("forward"); }
      { FATHOM_SCOPE("backward"); }
    }
    // The recorder keeps a bounded amount for its writer: give it time to keep up.
    if (i % 2000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void record(const std::string& path) {
  if (!fathom::profiler().start_recording(path)) std::exit(2);
  std::thread other(record_steps);
  record_steps();
  other.join();
  fathom::profiler().stop_recording();
}

std::size_t visit_fields(protozero::pbf_reader message) {
  std::size_t fields = 0;
  while (message.next()) {
    if (message.tag() == pf::packet::kTrackEvent) {
      fields += visit_fields(message.get_message());
    } else {
      message.skip();
    }
    ++fields;
  }
  return fields;
}

std::size_t visit(const std::string& bytes) {
  std::size_t fields = 0;
  protozero::pbf_reader trace(bytes);
  while (trace.next(pf::trace::kPacket)) fields += visit_fields(trace.get_message());
  return fields;
}

}  // namespace

int main() {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("fathom_bench_" + std::to_string(getpid()) + ".pftrace"))
                               .string();
  record(path);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

  double floor = std::numeric_limits<double>::max();
  double ours = floor;
  std::size_t fields = 0;
  std::size_t spans = 0;
  for (int round = 0; round < kRounds; ++round) {
    floor = std::min(floor, seconds_of([&] { fields = visit(bytes); }));
    ours =
        std::min(ours, seconds_of([&] { spans = fathom::trace::read_trace(path).spans.size(); }));
  }
  std::filesystem::remove(path);
  const double megabytes = static_cast<double>(bytes.size()) / 1e6;
  std::printf("%.1f MB, %zu fields, %zu spans: %.0f MB/s, floor %.0f MB/s\n", megabytes, fields,
              spans, megabytes / ours, megabytes / floor);
  std::printf("perfetto_ingest: %.3f s, floor %.3f s, ratio %.2f\n", ours, floor, ours / floor);
}
