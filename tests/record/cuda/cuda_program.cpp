// A CUDA program of the tests, on fake_cupti.h: one story each, told by the first argument. Its
// recorder is started as the CUDA driver would.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "record/cuda/fake_cupti.h"
#include "record/cuda/profiler_link.h"
#include "record/cuda/test_scope.h"

extern "C" int InitializeInjection() noexcept;  // NOLINT(readability-identifier-naming)

namespace fathom::record::cuda {
namespace {

template <typename Function>
Function* fake(const char* name) {
  static void* const library = dlopen(std::getenv("FATHOM_CUPTI"), RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}
#define FAKE(function) fake<decltype(function)>(#function)

void launch_in_scope(std::uint64_t scope, const char* kernel) {
  test_scope = scope;
  FAKE(fake_cuda_launch)(kernel);
  test_scope = 0;
}

struct LaunchesAfterMain {
  bool armed = false;
  ~LaunchesAfterMain() {
    if (armed) FAKE(fake_cuda_launch)("late");
  }
} launches_after_main;

void launch_on_threads() {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([t] {
      test_scope = t;
      static constexpr const char* kKernels[] = {"on_1", "on_2", "on_3", "on_4"};
      for (int i = 0; i < 5000; ++i) FAKE(fake_cuda_launch)(kKernels[t - 1]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

int fork_and_wait() {
  FAKE(fake_cuda_launch)("before");
  const pid_t child = fork();
  if (child == 0) std::exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  FAKE(fake_cuda_launch)("after");
  return WEXITSTATUS(status);
}

int run(const std::string& story) {
  if (story == "nothing") return 0;
  if (story == "launches") {
    FAKE(fake_cuda_launch)("alone");
    launch_in_scope(5, "_Z6scopedi");
    test_scope = 6;
    FAKE(fake_cuda_graph_launch)(544);
    FAKE(fake_cuda_malloc)(0x1000, 4096);
    test_scope = 0;
  } else if (story == "polling") {
    const std::uint64_t before = FAKE(fake_cuda_callbacks)();
    for (int i = 0; i < 1000; ++i) FAKE(fake_cuda_poll)();
    return FAKE(fake_cuda_callbacks)() == before ? 0 : 1;
  } else if (story == "killed") {
    FAKE(fake_cuda_launch)("long ago");
    sleep(2);
    kill(getpid(), SIGKILL);
  } else if (story == "reset") {
    FAKE(fake_cuda_launch)("before the reset");
    FAKE(fake_cuda_device_reset)();
  } else if (story == "after main") {
    launches_after_main.armed = true;
  } else if (story == "threads") {
    launch_on_threads();
  } else if (story == "fork") {
    return fork_and_wait();
  } else if (story == "clock") {
    std::printf("%lld\n", static_cast<long long>(profiler_now_ns()));
    FAKE(fake_cuda_launch)("now");
    std::printf("%lld\n", static_cast<long long>(profiler_now_ns()));
  }
  return 0;
}

}  // namespace
}  // namespace fathom::record::cuda

int main(int count, char** arguments) {
  const int started = InitializeInjection();
  if (started + InitializeInjection() != 2) return 99;  // a second time changes nothing
  return count < 2 ? 98 : fathom::record::cuda::run(arguments[1]);
}
