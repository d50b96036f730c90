// What an empty FATHOM_SCOPE costs, in CPU time, against what cannot be avoided: two readings of
// the time stamp counter. Floor and scope take turns in short rounds, and the best rounds are
// compared: whoever has the core's other half slows our instructions but not the counter's, so that
// the middle of the rounds would measure him.
#include <fathom/fathom.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "profiler/clock.h"

namespace {

constexpr int kCalls = 200'000;
constexpr int kRounds = 41;

double cpu_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double best(const std::vector<double>& values) {
  return *std::ranges::min_element(values);
}

constexpr auto kTwoReadings = [] {
  const std::uint64_t begin = __rdtsc();
  asm volatile("" ::: "memory");
  const std::uint64_t end = __rdtsc();
  asm volatile("" ::"r"(begin), "r"(end));
};

constexpr auto kEmptyScope = [] {
  FATHOM_SCOPE("empty");
  asm volatile("" ::: "memory");
};

// CPU nanoseconds a call on `threads` threads at once, as `clock` counts them.
template <typename F>
double measure(F&& call, int threads, clockid_t clock) {
  const auto work = [&] {
    for (int i = 0; i < kCalls; ++i) call();
  };
  const double before = cpu_ns(clock);
  std::vector<std::jthread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();
  return (cpu_ns(clock) - before) / (static_cast<double>(kCalls) * threads);
}

struct Cost {
  double floor = 0;
  double ours = 0;
};

Cost compare(int threads, clockid_t clock) {
  std::vector<double> floor;
  std::vector<double> ours;
  for (int round = 0; round < kRounds; ++round) {
    floor.push_back(measure(kTwoReadings, threads, clock));
    ours.push_back(measure(kEmptyScope, threads, clock));
  }
  return {best(floor), best(ours)};
}

void print(const char* what, double value, double floor, const char* unit) {
  std::printf("scope %s: %.1f %s, floor %.1f %s, ratio %.2f\n", what, value, unit, floor, unit,
              value / floor);
}

// Scopes that go to a run file as well: the program's own thread, and all of the process with the
// thread that writes.
struct RecordedCost {
  double floor = 0;
  double own = 0;
  double process = 0;
  std::uint64_t dropped = 0;
};

RecordedCost compare_recorded(const std::string& path) {
  constexpr int kRecordedRounds = 15;
  constexpr int kRecordedCalls = 10 * kCalls;
  std::vector<double> floor;
  std::vector<double> own;
  std::vector<double> process;
  RecordedCost cost;
  for (int round = 0; round < kRecordedRounds; ++round) {
    floor.push_back(measure(kTwoReadings, 1, CLOCK_THREAD_CPUTIME_ID));
    fathom::profiler().reset();
    std::remove(path.c_str());
    const double process_before = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    fathom::profiler().start_recording(path);
    const double own_before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kRecordedCalls; ++i) kEmptyScope();
    own.push_back((cpu_ns(CLOCK_THREAD_CPUTIME_ID) - own_before) / kRecordedCalls);
    fathom::profiler().stop_recording();
    process.push_back((cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - process_before) / kRecordedCalls);
    cost.dropped += fathom::profiler().drops().recorded_scopes;
  }
  cost.floor = best(floor);
  cost.own = best(own);
  cost.process = best(process);
  return cost;
}

// Bytes that the process grows by for each scope it keeps, as the system counts them.
double resident_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");  // exact, which statm is not
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Rss:")) return std::stod(line.substr(4)) * 1024;
  }
  return 0;
}

double timeline_bytes() {
  constexpr std::size_t kScopes = 4'000'000;
  fathom::profiler().configure({.max_entries = 2 * kScopes});
  // What is needed once, code and statistics, is there before we count.
  for (int i = 0; i < kCalls; ++i) kEmptyScope();
  const double before = resident_bytes();
  for (std::size_t i = 0; i < kScopes; ++i) kEmptyScope();
  const double grown = resident_bytes() - before;
  fathom::profiler().configure({});
  return grown / kScopes;
}

}  // namespace

int main() {
  const double bytes = timeline_bytes();
  const Cost one = compare(1, CLOCK_PROCESS_CPUTIME_ID);
  const Cost two = compare(2, CLOCK_PROCESS_CPUTIME_ID);
  print("statistics 1 thread", one.ours, one.floor, "ns");
  print("statistics 2 threads", two.ours, two.floor, "ns");
  const std::string path = "/tmp/fathom_bench_scope." + std::to_string(getpid()) + ".pftrace";
  const RecordedCost recorded = compare_recorded(path);
  std::remove(path.c_str());
  print("recorded own thread", recorded.own, recorded.floor, "ns");
  print("recorded whole process", recorded.process, recorded.floor, "ns");
  if (recorded.dropped != 0) {
    std::printf("%llu scopes dropped\n", static_cast<unsigned long long>(recorded.dropped));
  }
  print("memory", bytes, 16, "bytes");
  fathom::profiler().enable(false);
  std::vector<double> off;
  for (int round = 0; round < kRounds; ++round) {
    off.push_back(measure(kEmptyScope, 1, CLOCK_THREAD_CPUTIME_ID));
  }
  print("disabled", best(off), 1.0, "ns");
}
