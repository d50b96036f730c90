// What recording costs an OpenCL program: 100,000 kernels enqueued on a driver that does nothing,
// without a layer, through a layer that does nothing, and recorded to disk. Each measurement is a
// process of its own, because layers are loaded once. The three take turns, and the figure is the
// median of what each round has seen, so that neighbours of the machine do not decide it.

#include <CL/cl.h>
#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/read.h"

namespace {

constexpr int kEnqueues = 100'000;
constexpr int kRounds = 21;
constexpr double kAllowedNs = 300;

// Of one enqueue. Wall time is what the program waits, but on a busy machine it is mostly what
// others do; CPU time of its thread is the same without them.
struct Cost {
  double wall_ns = 0;
  double thread_ns = 0;   // CPU of the program's thread
  double process_ns = 0;  // CPU of all threads: writing the file included
};

std::int64_t read_clock(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The measured program: prints its cost to standard output.
int enqueue_kernels(int count) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  clGetPlatformIDs(1, &platform, nullptr);
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 1;
  cl_context const context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue const queue = clCreateCommandQueue(context, device, 0, nullptr);
  const char* source = "";
  cl_program const program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  cl_kernel const kernel = clCreateKernel(program, "nothing", nullptr);
  const std::array<size_t, 1> global = {1024};
  const auto enqueue = [&](int times) {
    for (int i = 0; i < times; ++i) {
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, global.data(), nullptr, 0, nullptr,
                             nullptr);
    }
    clFinish(queue);
  };
  enqueue(count / 10);
  const std::array<clockid_t, 3> clocks = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID,
                                           CLOCK_PROCESS_CPUTIME_ID};
  std::array<std::int64_t, 3> before = {};
  for (std::size_t i = 0; i < clocks.size(); ++i) before[i] = read_clock(clocks[i]);
  enqueue(count);
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    fmt::print("{} ", static_cast<double>(read_clock(clocks[i]) - before[i]) / count);
  }
  return 0;
}

Cost measure(const std::string& program, const std::string& layer, const std::string& run_file) {
  const std::string driver = FATHOM_NULL_DRIVER;
  setenv("OCL_ICD_VENDORS", driver.c_str(), 1);
  setenv("OPENCL_LAYERS", layer.c_str(), 1);
  setenv("FATHOM_RUN_FILE", run_file.c_str(), 1);
  if (layer.empty()) unsetenv("OPENCL_LAYERS");
  if (run_file.empty()) unsetenv("FATHOM_RUN_FILE");
  FILE* const pipe = popen((program + " --enqueue").c_str(), "r");
  Cost cost;
  if (pipe == nullptr ||
      fscanf(pipe, "%lf %lf %lf", &cost.wall_ns, &cost.thread_ns, &cost.process_ns) != 3) {
    fmt::print(stderr, "bench_opencl_layer: the measured program failed\n");
    std::exit(1);
  }
  pclose(pipe);
  return cost;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> column(const std::vector<Cost>& rounds, double Cost::*of) {
  std::vector<double> values;
  for (const Cost& cost : rounds) values.push_back(cost.*of);
  return values;
}

void print_row(const char* name, const std::vector<Cost>& rounds) {
  const std::vector<double> thread = column(rounds, &Cost::thread_ns);
  fmt::print("  {:<22} {:>10.0f} {:>10.0f} {:>10.0f} {:>10.0f}\n", name,
             median(column(rounds, &Cost::wall_ns)), median(thread),
             *std::min_element(thread.begin(), thread.end()),
             median(column(rounds, &Cost::process_ns)));
}

// What was measured counts only if it did its work: every kernel is in the file.
bool is_complete(const std::string& run_file) {
  const fathom::trace::Trace run = fathom::trace::read_trace(run_file);
  const auto kernels =
      std::count(run.spans.kind.begin(), run.spans.kind.end(), fathom::trace::SpanKind::kernel);
  const int expected = kEnqueues + kEnqueues / 10;  // the first tenth is not measured
  if (kernels == expected) return true;
  fmt::print(stderr, "bench_opencl_layer: {} of {} kernels are in the run\n", kernels, expected);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--enqueue") == 0) {
    return enqueue_kernels(argc > 2 ? std::atoi(argv[2]) : kEnqueues);
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string run_file =
      std::filesystem::temp_directory_path() / fmt::format("fathom-bench-{}.pftrace", getpid());
  std::vector<Cost> none;
  std::vector<Cost> floor;
  std::vector<Cost> recorded;
  for (int round = 0; round < kRounds; ++round) {
    none.push_back(measure(self, "", ""));
    floor.push_back(measure(self, FATHOM_PASS_THROUGH, ""));
    recorded.push_back(measure(self, FATHOM_LAYER, run_file));
    const bool complete = is_complete(run_file);
    std::filesystem::remove(run_file);
    if (!complete) return 1;
  }
  fmt::print("  ns per enqueue         {:>10} {:>10} {:>10} {:>10}\n", "wall", "thread CPU",
             "its best", "all CPU");
  print_row("no layer", none);
  print_row("pass-through layer", floor);
  print_row("recorded to disk", recorded);
  const double floor_ns = median(column(floor, &Cost::thread_ns));
  const double added = median(column(recorded, &Cost::thread_ns)) - floor_ns;
  fmt::print("  allowed: {:.0f} ns more than the pass-through layer on the program's thread\n",
             kAllowedNs);
  fmt::print("opencl_layer: {:.0f} ns, floor {:.0f} ns, ratio {:.2f}\n", added, floor_ns,
             added / floor_ns);
  return 0;
}
