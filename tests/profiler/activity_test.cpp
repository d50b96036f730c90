#include <fathom/fathom.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <thread>

namespace fathom::activity_test {

using namespace std::chrono_literals;

class Activities : public ::testing::Test {
 protected:
  void SetUp() override { profiler().configure({}); }
};

GpuActivity activity(ActivityKind kind, ScopeRef scope, std::int64_t start, std::int64_t end) {
  GpuActivity made;
  made.kind = kind;
  made.name = "made up";
  made.scope = scope;
  made.start_ns = start;
  made.end_ns = end;
  if (kind == ActivityKind::api_call) made.thread = gettid();
  return made;
}

std::int64_t sum_of_parts(const Entry& entry) {
  return *entry.gpu_ns + *entry.transfer_ns + *entry.overhead_ns + *entry.cpu_ns;
}

TEST_F(Activities, OfNobodyLeaveGpuFiguresAbsent) {
  { FATHOM_SCOPE("cpu only"); }
  { const Scope scope = profiler().profile("on the gpu", {.device = "gpu"}); }
  const auto entries = profiler().entries();
  EXPECT_FALSE(entries.at(0).gpu_time_ms());
  EXPECT_FALSE(entries.at(0).memory_peak_mb());
  EXPECT_EQ(entries.at(0).cpu_time_ms(), entries.at(0).duration_ms());
  EXPECT_FALSE(entries.at(1).cpu_time_ms());
  EXPECT_FALSE(profiler().summary().at("on the gpu").total_cpu_time_ms());
  EXPECT_FALSE(profiler().summary().at("cpu only").total_gpu_time_ms());
  EXPECT_EQ(profiler().bottlenecks().at(0).dominated_by.empty(),
            profiler().bottlenecks().at(0).operation == "on the gpu");
}

TEST_F(Activities, PartitionTheScopesThatLaunchedThem) {
  std::int64_t launched = 0;
  {
    FATHOM_SCOPE("outer");
    {
      FATHOM_SCOPE("launches");
      const ScopeRef scope = profiler().innermost_scope();
      launched = now_ns();
      std::this_thread::sleep_for(6ms);
      profiler().record(activity(ActivityKind::kernel, scope, launched, launched + 2'000'000));
      GpuActivity copy =
          activity(ActivityKind::copy, scope, launched + 1'500'000, launched + 3'000'000);
      copy.bytes = 3'000'000;
      profiler().record(copy);
      profiler().record(activity(ActivityKind::api_call, scope, launched, launched + 4'000'000));
    }
    FATHOM_SCOPE("innocent");
  }
  for (const Entry& entry : profiler().entries()) {
    EXPECT_EQ(sum_of_parts(entry), entry.duration_ns);
    const bool launches = entry.operation != "innocent";
    EXPECT_NEAR(*entry.gpu_time_ms(), launches ? 2.0 : 0.0, 1e-6);
    EXPECT_NEAR(*entry.transfer_time_ms(), launches ? 1.0 : 0.0, 1e-6);
    EXPECT_NEAR(*entry.overhead_ms(), launches ? 1.0 : 0.0, 1e-6);
    EXPECT_NEAR(*entry.gpu_utilization(), *entry.gpu_time_ms() / entry.duration_ms(), 1e-12);
    EXPECT_EQ(entry.memory_bandwidth_gb_s().has_value(), launches);
    EXPECT_NEAR(entry.memory_bandwidth_gb_s().value_or(0), launches ? 3.0 : 0.0, 1e-5);
  }
  const Summaries summaries = profiler().summary();
  const OperationFigures& summary = summaries.at("launches");
  EXPECT_NEAR(*summary.total_gpu_time_ms(), 2.0, 1e-6);
  EXPECT_NEAR(*summary.total_gpu_time_ms() + *summary.total_cpu_time_ms() +
                  *summary.total_transfer_time_ms() + *summary.total_overhead_ms(),
              *summary.total_time_ms(), 1e-3);
}

TEST_F(Activities, OfMemoryGiveWhatWasAllocatedAndThePeak) {
  constexpr std::int64_t kMb = 1 << 20;
  {
    FATHOM_SCOPE("outer");
    profiler().record(MemoryRecord{now_ns(), 10 * kMb, 0, {}, profiler().innermost_scope()});
    {
      FATHOM_SCOPE("inner");
      profiler().record(MemoryRecord{now_ns(), 20 * kMb, 0, {}, profiler().innermost_scope()});
      profiler().record(MemoryRecord{now_ns(), -25 * kMb, 0, {}, profiler().innermost_scope()});
    }
  }
  const auto entries = profiler().entries();
  EXPECT_EQ(entries.at(0).memory_allocated_mb(), 30);
  EXPECT_EQ(entries.at(1).memory_allocated_mb(), 20);
  EXPECT_EQ(entries.at(1).memory_peak_mb(), 30);
  EXPECT_EQ(profiler().summary().at("inner").peak_memory_mb(), 30);
}

TEST_F(Activities, OutsideOfAnyScopeBelongToNone) {
  EXPECT_FALSE(profiler().innermost_scope());
  profiler().record(activity(ActivityKind::kernel, {}, now_ns(), now_ns() + 1000));
  { FATHOM_SCOPE("later"); }
  EXPECT_EQ(profiler().entries().at(0).gpu_time_ms(), 0.0);
}

TEST_F(Activities, AreBoundedAndDropsCounted) {
  profiler().configure({.max_entries = 100});
  FATHOM_SCOPE("launches");
  for (int i = 0; i < 150; ++i) {
    profiler().record(activity(ActivityKind::kernel, profiler().innermost_scope(), i, i + 1));
  }
  EXPECT_EQ(profiler().drops().activities, 50U);
}

TEST_F(Activities, OfOneDeviceOnlyWhenAskedFor) {
  profiler().configure({.device_id = 1});
  {
    FATHOM_SCOPE("two devices");
    const ScopeRef scope = profiler().innermost_scope();
    const std::int64_t begin = now_ns();
    std::this_thread::sleep_for(1ms);
    GpuActivity kernel = activity(ActivityKind::kernel, scope, begin, begin + 300'000);
    profiler().record(kernel);
    kernel.device = 1;
    kernel.end_ns = begin + 100'000;
    profiler().record(kernel);
  }
  EXPECT_NEAR(*profiler().entries().at(0).gpu_time_ms(), 0.1, 1e-6);
}

}  // namespace fathom::activity_test
