#include "child.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>

namespace fathom::bench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ChildRun run_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (int stream = 0; stream < 3; ++stream) {
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
  }
  rusage used{};
  int status = 1;
  ChildRun run;
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], &quiet, nullptr, arguments.data(), environ) == 0) {
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
    }
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  posix_spawn_file_actions_destroy(&quiet);
  if (status != 0) {
    fmt::print(stderr, "{}: failed\n", words[0]);
    std::exit(1);
  }
  run.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  run.rss_mb = static_cast<double>(used.ru_maxrss) * 1024 / 1e6;
  return run;
}

ChildRun best(const ChildRun& a, const ChildRun& b) {
  return {std::min(a.seconds, b.seconds), std::min(a.cpu_seconds, b.cpu_seconds),
          std::max(a.rss_mb, b.rss_mb)};
}

}  // namespace fathom::bench
