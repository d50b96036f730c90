// A program to be recorded, forked and killed by the tests. FATHOM_RUN_FILE says where to.
#include <fathom/fathom.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
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

void count(int scopes) {
  for (int i = 0; i < scopes; ++i) {
    FATHOM_SCOPE("counted");
  }
}

// Closes what it does not know, as daemons do, and opens a file of its own.
int run_closing(const char* own_path, bool takes_all_numbers) {
  count(100);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int fd = 3; fd < 4096; ++fd) close(fd);
  const int own = open(own_path, O_WRONLY | O_CREAT, 0600);
  for (int fd = 4; takes_all_numbers && fd < 1100; ++fd) dup2(own, fd);
  count(100);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  count(100);
  return write(own, "own", 3) == 3 ? 0 : 4;
}

// Ends without a word, after a moment.
int run_leaving(std::string_view how) {
  count(100);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (how == "_exit") _exit(0);
  if (how == "exec") execl("/bin/true", "true", nullptr);
  if (how == "abort") std::abort();
  if (how == "term") raise(SIGTERM);
  if (how == "kill") raise(SIGKILL);
  if (how == "quick_exit") {
    count(100);  // and this one says a word
    std::quick_exit(0);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "threads") return run_threads(argv[2]);
  if (what == "fork") return run_fork();
  if (what == "closing") return run_closing(argv[2], false);
  if (what == "taking") return run_closing(argv[2], true);
  if (what == "leaving") return run_leaving(argv[2]);
  { FATHOM_SCOPE("in main"); }
  return 0;
}
