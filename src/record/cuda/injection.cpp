// libfathom_cuda.so: what the CUDA driver loads when CUDA_INJECTION64_PATH names it, and calls once
// while the program's first CUDA call waits. Nothing here throws, stops or changes the program.

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "record/cuda/profiler_link.h"
#include "record/cuda/recorder.h"

namespace fathom::record::cuda {
namespace {

Recorder* recorder = nullptr;  // never destroyed

void start_recording() {
  // First, so that what the profiler does at exit comes after our last flush.
  innermost_scope();
  std::string problem;
  const std::optional<CuptiApi> api = load_cupti(problem);
  if (!api) {
    fmt::print(stderr, "fathom: CUDA: not recorded: {}\n", problem);
    return;
  }
  auto* made = new Recorder(*api);
  if (!made->start()) return;
  recorder = made;
  std::atexit([] { recorder->finish(); });
  pthread_atfork(nullptr, nullptr, [] { recorder->switch_off(); });
}

}  // namespace
}  // namespace fathom::record::cuda

// Always 1, success: whatever was wrong has been said, and the program's own work goes on. The name
// is the driver's. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) int InitializeInjection() noexcept {
  static std::once_flag once;
  try {
    std::call_once(once, fathom::record::cuda::start_recording);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "fathom: CUDA: not recorded: %s\n", problem.what());
  }
  return 1;
}
