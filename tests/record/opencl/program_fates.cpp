// Modes about how a program ends, and with whom it lives.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "record/opencl/opencl_program.h"

namespace opencl_program {
namespace {

// Work that is over, then time enough for any recorder that keeps its promise of a second.
void work_and_wait(int launches) {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("twice");
  for (int i = 0; i < launches; ++i) run(queue, kernel, buffer);
  CHECK_CL(clFinish(queue));
  truth("kernel", "twice", launches);
  std::printf("worked\n");
  std::fflush(stdout);
}

void pause_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

constexpr int kLaunches = 100;
constexpr int kPromiseMs = 1500;

[[noreturn]] void crash() {
  volatile int* const nowhere = nullptr;
  *nowhere = 1;  // NOLINT(clang-analyzer-core.NullDereference): that is the point
  std::abort();
}

void in_flight() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("slow");
  for (int i = 0; i < 200; ++i) run(queue, kernel, buffer);
  CHECK_CL(clFlush(queue));
  std::printf("leaving\n");
}

// Releases what it holds after main has returned, and after handlers that were registered later.
struct LateOwner {
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem buffer = nullptr;
  ~LateOwner() {
    if (queue == nullptr) return;
    run(queue, kernel, buffer);
    std::printf("late: %d", clFinish(queue));
    std::printf(" %d", clReleaseMemObject(buffer));
    std::printf(" %d", clReleaseKernel(kernel));
    std::printf(" %d\n", clReleaseCommandQueue(queue));
  }
};
LateOwner late_owner;

void static_destructor() {
  const Setup cl;
  late_owner.queue = cl.queue();
  late_owner.kernel = cl.kernel("twice");
  late_owner.buffer = cl.buffer();
  for (int i = 0; i < kLaunches; ++i) run(late_owner.queue, late_owner.kernel, late_owner.buffer);
}

// Forked before the first call, so that both may use OpenCL.
void fork_both() {
  std::fflush(stdout);
  const pid_t child = fork();
  work_and_wait(child == 0 ? 30 : 70);
  if (child == 0) std::exit(5);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
}

// Forked after OpenCL has been used: the child goes on with what it inherited. Drivers with threads
// of their own do not survive that; PoCL's `basic` has none.
void fork_after() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("twice");
  const auto work = [&](int launches) {
    for (int i = 0; i < launches; ++i) run(queue, kernel, buffer);
    CHECK_CL(clFinish(queue));
  };
  work(70);
  std::fflush(stdout);
  const pid_t child = fork();
  work(child == 0 ? 30 : 10);
  if (child == 0) std::exit(5);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
}

// A child made while the recorder's thread runs; it does something else and leaves.
void fork_child() {
  work_and_wait(kLaunches);
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != 7) std::printf("child %d\n", status);
  }
  const pid_t child = fork();
  if (child == 0) std::exit(8);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
}

void exec_self(const char* self) {
  work_and_wait(30);
  execl(self, self, "plain", nullptr);
  std::printf("exec failed\n");
}

void idle_gap() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("slow");
  for (int i = 0; i < 5; ++i) run(queue, kernel, buffer);
  CHECK_CL(clFinish(queue));
  pause_ms(200);
  for (int i = 0; i < 5; ++i) run(queue, kernel, buffer);
  CHECK_CL(clFinish(queue));
  truth("kernel", "slow", 10);
}

double number_from(const char* variable, double otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atof(text);
}

long resident_kb() {
  long pages = 0;
  long resident = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  const bool known = std::fscanf(file, "%ld %ld", &pages, &resident) == 2;
  std::fclose(file);
  return known ? resident * (sysconf(_SC_PAGESIZE) / 1024) : -1;
}

// So many small kernels over so many seconds, and its resident memory ten times on the way. A
// machine that cannot keep up takes longer.
void soak() {
  const double seconds = number_from("FATHOM_SOAK_SECONDS", 2);
  const auto launches = static_cast<long>(number_from("FATHOM_SOAK_LAUNCHES", 10'000));
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("twice");
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  const std::size_t global = 1;
  const auto start = std::chrono::steady_clock::now();
  for (long done = 0; done < launches;) {
    for (int i = 0; i < 100; ++i, ++done) {
      CHECK_CL(
          clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr));
    }
    CHECK_CL(clFinish(queue));
    const double share = static_cast<double>(done) / static_cast<double>(launches);
    std::this_thread::sleep_until(start + std::chrono::duration<double>(seconds * share));
    if (done % (launches / 10) != 0) continue;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "soak: %4.0f s, %ld launches, resident %ld kB\n", elapsed.count(), done,
                 resident_kb());
  }
  truth("kernel", "twice", static_cast<int>(launches));
}

}  // namespace

bool run_fate(const std::string& mode, const char* self) {
  if (mode == "plain") return work_and_wait(kLaunches), true;
  if (mode == "segv") return work_and_wait(kLaunches), pause_ms(kPromiseMs), crash(), true;
  if (mode == "segv-now") return work_and_wait(kLaunches), crash(), true;
  if (mode == "_exit") return work_and_wait(kLaunches), pause_ms(kPromiseMs), _exit(9), true;
  if (mode == "_exit-now") return work_and_wait(kLaunches), _exit(9), true;
  if (mode == "kill") return work_and_wait(kLaunches), pause_ms(kPromiseMs), raise(SIGKILL), true;
  if (mode == "kill-now") return work_and_wait(kLaunches), raise(SIGKILL), true;
  if (mode == "in-flight") return in_flight(), true;
  if (mode == "static-destructor") return static_destructor(), true;
  if (mode == "fork-both") return fork_both(), true;
  if (mode == "fork-after") return fork_after(), true;
  if (mode == "fork-child") return fork_child(), true;
  if (mode == "exec") return exec_self(self), true;
  if (mode == "idle-gap") return idle_gap(), true;
  if (mode == "soak") return soak(), true;
  return false;
}

}  // namespace opencl_program
