// The built libfathom_cuda.so with the profiler library, loaded as the CUDA driver loads it.
#include <dlfcn.h>
#include <fathom/fathom.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "record/cuda/driver_check.h"
#include "record/cuda/fake_cupti.h"

namespace fathom::record::cuda::built_library_test {

using InitializeInjection = int (*)();

bool started_before() {
  static bool started = false;
  return std::exchange(started, true);
}

InitializeInjection load_injection() {
  void* library = dlopen(FATHOM_CUDA, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return library == nullptr
             ? nullptr
             : reinterpret_cast<InitializeInjection>(dlsym(library, "InitializeInjection"));
}

TEST(BuiltLibrary, WithoutADriverItReturnsAndSaysOneLine) {
  if (check_cuda_driver().found) GTEST_SKIP() << "this machine has a driver";
  if (started_before()) GTEST_SKIP() << "once per process";
  unsetenv("FATHOM_CUPTI");
  const InitializeInjection start = load_injection();
  ASSERT_NE(start, nullptr);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(start(), 1);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("fathom: CUDA: not recorded: no NVIDIA driver")) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

// The first entry of that name, once the recorder has delivered what was launched in it.
std::optional<Entry> delivered_entry(const std::string& operation) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    for (const Entry& entry : profiler().entries()) {
      if (entry.operation == operation && entry.gpu_time_ms().value_or(0) > 0) return entry;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return std::nullopt;
}

TEST(BuiltLibrary, GpuWorkBecomesGpuTimeOfTheScopeThatLaunchedIt) {
  if (started_before()) GTEST_SKIP() << "once per process";
  setenv("FATHOM_CUPTI", FAKE_CUPTI, 1);
  const InitializeInjection start = load_injection();
  ASSERT_NE(start, nullptr);
  ASSERT_EQ(start(), 1);
  void* fake = dlopen(FAKE_CUPTI, RTLD_NOW);
  ASSERT_NE(fake, nullptr) << dlerror();
  const auto launch =
      reinterpret_cast<decltype(&fake_cuda_launch)>(dlsym(fake, "fake_cuda_launch"));
  {
    FATHOM_SCOPE("training step");
    launch("_Z4gemmv");  // it says that it ran for a microsecond
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::optional<Entry> entry = delivered_entry("training step");
  ASSERT_TRUE(entry);
  EXPECT_DOUBLE_EQ(*entry->gpu_time_ms(), 0.001);
  EXPECT_GT(entry->overhead_ms().value_or(0), 0);
}

}  // namespace fathom::record::cuda::built_library_test
