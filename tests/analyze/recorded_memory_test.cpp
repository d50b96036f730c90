#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "analyze/memory/memory.h"
#include "fathom/fathom.h"
#include "trace/read.h"

namespace fathom::analyze::recorded_memory_test {

void tell(std::uint64_t address, std::int64_t bytes, const char* call) {
  MemoryRecord record;
  record.time_ns = now_ns();
  record.bytes = bytes;
  record.address = address;
  record.scope = profiler().innermost_scope();
  record.name = call;
  record.thread = gettid();
  profiler().record(record);
}

TEST(RecordedMemory, BelongsToTheScopesAndCallsOfItsThread) {
  const std::string path = ::testing::TempDir() + "fathom_recorded_memory.pftrace";
  ASSERT_TRUE(profiler().start_recording(path));
  {
    FATHOM_SCOPE("outer");
    tell(1, 100, "clCreateBuffer");
    {
      FATHOM_SCOPE("inner");
      tell(2, 1000, "clCreateBuffer");
      std::thread([] { tell(3, 10, "clSVMAlloc"); }).join();
    }
    tell(2, -1000, "clCreateBuffer");
  }
  profiler().stop_recording();
  const trace::Trace trace = trace::read_trace(path);
  std::remove(path.c_str());

  const DeviceMemory device = memory(trace).devices.at(0);
  EXPECT_EQ(device.device, trace::MemoryDevice::gpu);
  EXPECT_EQ(device.peak_bytes(), 1110);
  ASSERT_EQ(device.at_peak.size(), 3U);
  EXPECT_EQ(device.at_peak[0].scope, "inner");
  EXPECT_EQ(device.at_peak[0].call, "clCreateBuffer");
  EXPECT_EQ(device.at_peak[1].scope, "outer");
  EXPECT_EQ(device.at_peak[2].scope, "");  // another thread
  EXPECT_EQ(device.at_peak[2].call, "clSVMAlloc");
  EXPECT_EQ(total_bytes(device.leaks), 110);
}

}  // namespace fathom::analyze::recorded_memory_test
