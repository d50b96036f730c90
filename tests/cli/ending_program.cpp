// A program that ends without a word, at once after its work, for `fathom profile` to record.
//
//   ending_program HOW N [THREADS]    N scopes on each thread, and the end
//
// HOW: _exit, exec, abort, term, kill, segv, return; fork (a child does one scope, and _exit);
// racing (N is a file: two threads count their finished scopes there, until a kill from within, so
// many microseconds later as are given in the place of threads);
// forks (children are forked while threads begin their first scopes);
// daemon (closes all descriptors, leaves its folder, then _exit); drop, drop-exit (the same as
// nobody, whom nothing is allowed; then _exit, or exit); limit (a limit on the size of files comes
// first, then _exit).
#include <fathom/fathom.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

void work(int scopes) {
  for (int i = 0; i < scopes; ++i) {
    FATHOM_SCOPE("work");
  }
  const fathom::Scope described =
      fathom::profiler().profile("described", {.attributes = {{"count", 7}}});
}

int run_fork() {
  const pid_t child = fork();
  if (child == 0) {
    { FATHOM_SCOPE("in the child"); }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// The first scope of all makes the profiler: a child that is forked meanwhile must not wait for it.
int run_forks() {
  std::atomic<bool> go = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!go) std::this_thread::yield();
      FATHOM_SCOPE("work");
    });
  }
  go = true;
  int failed = 0;
  for (int i = 0; i < 5; ++i) {
    const int status = run_fork();
    failed += status != 0 ? 1 : 0;
  }
  for (std::thread& thread : threads) thread.join();
  return failed;
}

int run_racing(const char* counters_path, int microseconds) {
  const int fd = open(counters_path, O_RDWR);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return 3;
  auto* const counters = static_cast<std::atomic<std::uint64_t>*>(page);
  for (int i = 0; i < 2; ++i) {
    std::thread([counters, i] {
      for (;;) {
        { FATHOM_SCOPE("work"); }
        counters[i].fetch_add(1);
      }
    }).detach();
  }
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  return raise(SIGKILL);
}

[[noreturn]] void end(const std::string& how) {
  if (how == "exec") execl("/bin/true", "true", nullptr);
  if (how == "abort") std::abort();
  if (how == "term") raise(SIGTERM);
  if (how == "kill") raise(SIGKILL);
  if (how == "segv") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler of its own
    raise(SIGSEGV);
  }
  _exit(9);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string how = argv[1];
  const int number = std::atoi(argv[2]);
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  if (how == "limit") {
    const rlimit limit{1 << 16, 1 << 16};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (how == "forks") return run_forks();
  if (how == "racing") return run_racing(argv[2], threads);
  FATHOM_SCOPE("never ends");
  const bool drops = how.starts_with("drop");
  if (how == "daemon" || drops) {
    work(1);
    constexpr unsigned kNobody = 65534;
    if (drops && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return 3;
    for (int fd = 0; fd < 4096; ++fd) close(fd);
    if (chdir("/") != 0) return 3;
  }
  // The other threads are there when the end comes, in the middle of a scope.
  std::atomic<int> working = threads - 1;
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&] {
      FATHOM_SCOPE("never ends");
      work(number);
      --working;
      pause();
    });
  }
  work(number);
  while (working > 0) std::this_thread::yield();
  if (how == "return" || how == "drop-exit") std::exit(0);
  if (how == "fork") std::exit(run_fork());
  end(how);
}
