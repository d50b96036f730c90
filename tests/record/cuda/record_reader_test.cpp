#include "record/cuda/record_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "record/cuda/record_buffer.h"

namespace fathom::record::cuda::record_reader_test {

class RecordReaderTest : public ::testing::Test {
 protected:
  void read(RecordBuffer& buffer) { read_buffer(buffer.filled(), next_record, reader_); }

  std::vector<GpuActivity> activities_;
  std::vector<MemoryRecord> memory_;
  LaunchLinks links_;
  RecordReader reader_{test_call_name,
                       links_,
                       {[this](const GpuActivity& a) { activities_.push_back(a); },
                        [this](const MemoryRecord& m) { memory_.push_back(m); }}};
};

TEST_F(RecordReaderTest, EveryKindBecomesItsActivity) {
  RecordBuffer buffer;
  NewKernel serial = kernel_record("serial", 1, 10, 20);
  serial.kind = CUPTI_ACTIVITY_KIND_KERNEL;
  NewCopy copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.bytes = 100;
  copy.start = 21;
  copy.end = 25;
  PeerCopyRecord peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.bytes = 200;
  peer.start = 26;
  peer.end = 28;
  FillRecord fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.bytes = 300;
  fill.start = 29;
  fill.end = 30;
  NewSync sync{};
  sync.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  sync.start = 31;
  sync.end = 32;
  NewOverhead overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.start = 33;
  overhead.end = 34;
  NewGraph graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.graphId = 6;
  graph.start = 35;
  graph.end = 36;
  buffer.add(serial).add(kernel_record("concurrent", 2, 11, 19)).add(copy).add(peer).add(fill);
  buffer.add(call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 3, 1, 2));
  buffer.add(call_record(CUPTI_ACTIVITY_KIND_DRIVER, 307, 4, 3, 4));
  buffer.add(sync).add(overhead).add(graph);
  read(buffer);

  using K = ActivityKind;
  const std::vector<K> kinds = {K::kernel,   K::kernel,   K::copy, K::copy,     K::fill,
                                K::api_call, K::api_call, K::sync, K::api_call, K::kernel};
  ASSERT_EQ(activities_.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(activities_[i].kind, kinds[i]) << i;
  EXPECT_EQ(activities_[2].bytes, 100);
  EXPECT_EQ(activities_[3].direction, CopyDirection::peer_to_peer);
  EXPECT_EQ(activities_[4].bytes, 300);
  EXPECT_EQ(activities_[9].name, "graph 6");
  EXPECT_EQ(activities_[9].start_ns, 35);
  EXPECT_EQ(activities_[9].end_ns, 36);
  EXPECT_EQ(reader_.losses(), Losses{});
}

TEST_F(RecordReaderTest, WorkBelongsToTheScopeThatLaunchedIt) {
  links_.note(7, {ScopeRef{70}, 4242});
  RecordBuffer buffer;
  buffer.add(call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 7, 1, 2));
  buffer.add(kernel_record("mine", 7, 10, 20)).add(kernel_record("nobody's", 8, 20, 30));
  read(buffer);
  ASSERT_EQ(activities_.size(), 3U);
  EXPECT_EQ(activities_[0].scope.instance, 70U);
  EXPECT_EQ(activities_[1].scope.instance, 70U);
  EXPECT_EQ(activities_[1].correlation, 7);
  EXPECT_FALSE(activities_[2].scope);
}

TEST_F(RecordReaderTest, AnExternalCorrelationRecordNamesTheScopeOfWhatFollows) {
  ExternalRecord foreign = scope_record(9, 1234);
  foreign.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;  // PyTorch's
  RecordBuffer buffer;
  buffer.add(scope_record(9, 90)).add(foreign);
  buffer.add(call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 9, 1, 2));
  buffer.add(kernel_record("mine", 9, 10, 20));
  read(buffer);
  ASSERT_EQ(activities_.size(), 2U);
  EXPECT_EQ(activities_[0].scope.instance, 90U);
  EXPECT_EQ(activities_[1].scope.instance, 90U);
}

TEST_F(RecordReaderTest, AllKernelsOfAReplayedGraphBelongToItsLaunch) {
  links_.note(11, {ScopeRef{110}, 1});
  RecordBuffer buffer;
  for (std::uint64_t i = 0; i < 544; ++i) {
    NewKernel kernel = kernel_record("_Z4nodev", 11, 1000 + i * 10, 1005 + i * 10);
    kernel.graphId = 3;
    kernel.graphNodeId = 3ULL << 32 | i;
    buffer.add(kernel);
  }
  read(buffer);
  ASSERT_EQ(activities_.size(), 544U);
  for (std::size_t i = 0; i < 544; ++i) {
    ASSERT_EQ(activities_[i].name, "node()");
    ASSERT_EQ(activities_[i].correlation, 11);
    ASSERT_EQ(activities_[i].scope.instance, 110U);
    ASSERT_EQ(activities_[i].start_ns, static_cast<std::int64_t>(1000 + i * 10));
    ASSERT_EQ(activities_[i].end_ns - activities_[i].start_ns, 5);
  }
}

TEST_F(RecordReaderTest, AWaitIsOnTheThreadThatMadeTheCall) {
  links_.note(5, {ScopeRef{50}, 77});
  links_.note(6, {ScopeRef{50}, 77});
  NewSync host{};
  host.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  host.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  host.correlationId = 5;
  host.start = 1;
  host.end = 9;
  NewSync on_gpu = host;
  on_gpu.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  on_gpu.correlationId = 6;
  on_gpu.streamId = 7;
  RecordBuffer buffer;
  buffer.add(host).add(on_gpu);
  read(buffer);
  ASSERT_EQ(activities_.size(), 2U);
  EXPECT_EQ(activities_[0].thread, 77);
  EXPECT_EQ(activities_[0].scope.instance, 50U);
  EXPECT_FALSE(activities_[1].thread);
  EXPECT_EQ(activities_[1].queue, 7);
}

TEST_F(RecordReaderTest, TimesAreOnOurClock) {
  reader_.clock().add({1'000'000, 500});
  RecordBuffer buffer;
  buffer.add(kernel_record("k", 1, 1'000'100, 1'000'250));
  buffer.add(
      memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 0x10, 64, 1, 1'000'300));
  read(buffer);
  EXPECT_EQ(activities_.at(0).start_ns, 600);
  EXPECT_EQ(activities_.at(0).end_ns, 750);
  EXPECT_EQ(memory_.at(0).time_ns, 800);
}

TEST_F(RecordReaderTest, AZeroLengthKernelIsWorkAndOneWithoutTimesIsNot) {
  RecordBuffer buffer;
  buffer.add(kernel_record("instant", 1, 10, 10));
  buffer.add(kernel_record("untimed", 2, 0, 0));
  buffer.add(kernel_record("still running", 3, 10, 0));
  read(buffer);
  ASSERT_EQ(activities_.size(), 1U);
  EXPECT_EQ(activities_[0].name, "instant");
  EXPECT_EQ(reader_.losses().untimed, 1U);
  EXPECT_EQ(reader_.losses().unfinished, 1U);
}

TEST_F(RecordReaderTest, AllocationsAndFreesBalanceWithTheirScope) {
  links_.note(1, {ScopeRef{10}, 1});
  RecordBuffer buffer;
  buffer.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 0xA000, 4096, 1, 100));
  buffer.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 0xB000, 64, 2, 101));
  buffer.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 0xA000, 4096, 3, 102));
  buffer.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 0xB000, 0, 4, 103));
  buffer.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 0xC000, 32, 5, 104));
  read(buffer);
  std::vector<std::int64_t> bytes;
  for (const MemoryRecord& memory : memory_) bytes.push_back(memory.bytes);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{4096, 64, -4096, -64, -32}));
  EXPECT_EQ(memory_[0].scope.instance, 10U);
  EXPECT_EQ(memory_[0].address, 0xA000);
  EXPECT_EQ(memory_[0].device, 1);
  EXPECT_EQ(memory_[2].time_ns, 102);
  EXPECT_FALSE(memory_[1].scope);
}

TEST_F(RecordReaderTest, MemoryOfTheHostIsNotDeviceMemory) {
  NewMemory pinned =
      memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 0xA000, 4096, 1, 100);
  pinned.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  NewMemory managed = pinned;
  managed.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  RecordBuffer buffer;
  buffer.add(pinned).add(managed);
  read(buffer);
  EXPECT_EQ(memory_.size(), 1U);
}

#if CUPTI_API_VERSION >= 130000
TEST_F(RecordReaderTest, TheDataOfAnOverheadRecordIsFreed) {
  NewOverhead overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  overhead.start = 1;
  overhead.end = 2;
  overhead.overheadData = std::malloc(16);  // the address sanitizer tells whether it leaks
  reader_.frees_overhead_data(true);
  RecordBuffer buffer;
  buffer.add(overhead);
  read(buffer);
  EXPECT_EQ(activities_.at(0).name, "command buffer full");
}
#endif

}  // namespace fathom::record::cuda::record_reader_test
