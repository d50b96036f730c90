// A program to be recorded, forked and killed by the tests. FATHOM_RUN_FILE says where to.
#include <fathom/fathom.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct InStatics {
  InStatics() { FATHOM_SCOPE("in a static constructor"); }
  ~InStatics() { FATHOM_SCOPE("in a static destructor"); }
};
const InStatics in_statics;

// Four threads that count their finished scopes where the test sees it, until they are killed.
int run_threads(const char* counters_path) {
  const int fd = open(counters_path, O_RDWR);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  auto* const counters = static_cast<std::atomic<std::uint64_t>*>(page);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([counters, i] {
      FATHOM_SCOPE("never ends");
      for (;;) {
        for (int j = 0; j < 50; ++j) {
          FATHOM_SCOPE("counted");
          counters[i].fetch_add(1);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  return 0;
}

int run_fork() {
  { FATHOM_SCOPE("before the fork"); }
  const pid_t child = fork();
  if (child == 0) {
    { FATHOM_SCOPE("in the child"); }
    return fathom::profiler().summary().size() == 1 ? 0 : 3;
  }
  int status = 0;
  waitpid(child, &status, 0);
  { FATHOM_SCOPE("after the fork"); }
  return WEXITSTATUS(status);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "threads") return run_threads(argv[2]);
  if (what == "fork") return run_fork();
  { FATHOM_SCOPE("in main"); }
  return 0;
}
