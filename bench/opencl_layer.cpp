// What recording costs an OpenCL program: 100,000 kernels enqueued on a driver that does nothing,
// without a layer, through a layer that does nothing, and recorded to disk. Each measurement is a
// process of its own, because layers are loaded once; rounds are interleaved.

#include <CL/cl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

extern char** environ;

namespace {

constexpr int kEnqueues = 100'000;
constexpr int kRounds = 9;
constexpr double kAllowedNs = 300;

struct Cost {
  double wall_ns = 0;  // an enqueue, on the program's thread
  double cpu_ns = 0;   // an enqueue, all threads of the process
};

std::int64_t read_clock(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The measured program: prints its cost to standard output.
int enqueue_kernels() {
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
  const auto enqueue = [&](int count) {
    for (int i = 0; i < count; ++i) {
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, global.data(), nullptr, 0, nullptr,
                             nullptr);
    }
    clFinish(queue);
  };
  enqueue(kEnqueues / 10);
  const std::int64_t wall = read_clock(CLOCK_MONOTONIC);
  const std::int64_t cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  enqueue(kEnqueues);
  fmt::print("{} {}\n", static_cast<double>(read_clock(CLOCK_MONOTONIC) - wall) / kEnqueues,
             static_cast<double>(read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu) / kEnqueues);
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
  if (pipe == nullptr || fscanf(pipe, "%lf %lf", &cost.wall_ns, &cost.cpu_ns) != 2) {
    fmt::print(stderr, "bench_opencl_layer: the measured program failed\n");
    std::exit(1);
  }
  pclose(pipe);
  return cost;
}

struct Rounds {
  std::vector<double> wall;
  std::vector<double> cpu;
  void add(const Cost& cost) {
    wall.push_back(cost.wall_ns);
    cpu.push_back(cost.cpu_ns);
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

void print_row(const char* name, const Rounds& rounds) {
  fmt::print("  {:<22} {:>10.0f} {:>10.0f} {:>10.0f} {:>10.0f}\n", name, median(rounds.wall),
             least(rounds.wall), median(rounds.cpu), least(rounds.cpu));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--enqueue") == 0) return enqueue_kernels();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string run_file =
      std::filesystem::temp_directory_path() / fmt::format("fathom-bench-{}.pftrace", getpid());
  Rounds none;
  Rounds floor;
  Rounds recorded;
  for (int round = 0; round < kRounds; ++round) {
    none.add(measure(self, "", ""));
    floor.add(measure(self, FATHOM_PASS_THROUGH, ""));
    recorded.add(measure(self, FATHOM_LAYER, run_file));
    std::filesystem::remove(run_file);
  }
  fmt::print("  ns an enqueue          {:>10} {:>10} {:>10} {:>10}\n", "wall", "best", "CPU",
             "best");
  print_row("no layer", none);
  print_row("pass-through layer", floor);
  print_row("recorded to disk", recorded);
  const double added = median(recorded.wall) - median(floor.wall);
  fmt::print("  allowed: {:.0f} ns more than the pass-through layer\n", kAllowedNs);
  fmt::print("opencl_layer: {:.0f} ns, floor {:.0f} ns, ratio {:.2f}\n", added, median(floor.wall),
             added / median(floor.wall));
  return 0;
}
