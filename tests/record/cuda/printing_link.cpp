// In place of the profiler library: scopes are what the program says, and what is recorded goes to
// the file named by PRINT_TO, a line each, written at once.
#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "record/cuda/profiler_link.h"
#include "record/cuda/test_scope.h"

namespace fathom::record::cuda {

thread_local std::uint64_t test_scope = 0;

namespace {

void print(const std::string& line) {
  const char* path = std::getenv("PRINT_TO");
  static const int file =
      open(path == nullptr ? "/dev/null" : path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
}

}  // namespace

ScopeRef innermost_scope() noexcept {
  return ScopeRef{test_scope};
}

std::int64_t profiler_now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

Sink profiler_sink() {
  return {[](const GpuActivity& made) {
            print(fmt::format("{} scope {} correlation {} at {} for {} pid {}\n", made.name.text(),
                              made.scope.instance, made.correlation.value_or(0), made.start_ns,
                              made.end_ns - made.start_ns, getpid()));
          },
          [](const MemoryRecord& made) {
            print(fmt::format("memory {} scope {}\n", made.bytes, made.scope.instance));
          }};
}

}  // namespace fathom::record::cuda
