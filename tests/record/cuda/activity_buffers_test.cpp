#include "record/cuda/activity_buffers.h"

#include <gtest/gtest.h>

#include <set>

#include "record/cuda/record_buffer.h"

namespace fathom::record::cuda::activity_buffers_test {

TEST(BufferPool, GivesOutAlignedBuffersUpToItsLimitThenSaysNo) {
  BufferPool pool(3);
  std::set<std::uint8_t*> out;
  for (int i = 0; i < 3; ++i) out.insert(pool.request());
  EXPECT_EQ(out.size(), 3U);
  EXPECT_FALSE(out.contains(nullptr));
  for (std::uint8_t* data : out) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 8, 0U);
  EXPECT_EQ(pool.request(), nullptr);
  pool.give_back(*out.begin());
  EXPECT_EQ(pool.request(), *out.begin());
  for (std::uint8_t* data : out) pool.give_back(data);
}

TEST(BufferPool, FilledBuffersComeBackOnceAndInOrder) {
  BufferPool pool;
  std::uint8_t* first = pool.request();
  std::uint8_t* second = pool.request();
  pool.complete(second, 20);
  pool.complete(first, 10);
  const std::vector<FilledBuffer> filled = pool.take_filled();
  ASSERT_EQ(filled.size(), 2U);
  EXPECT_EQ(filled[0].data, second);
  EXPECT_EQ(filled[0].valid, 20U);
  EXPECT_EQ(filled[1].data, first);
  EXPECT_TRUE(pool.take_filled().empty());
  for (const FilledBuffer& buffer : filled) pool.give_back(buffer.data);
}

TEST(BufferPool, ABufferWithNothingInItIsUsedAgainAtOnce) {
  BufferPool pool(1);
  std::uint8_t* data = pool.request();
  pool.complete(data, 0);
  EXPECT_TRUE(pool.take_filled().empty());
  EXPECT_EQ(pool.request(), data);
  pool.complete(nullptr, 0);
  pool.give_back(data);
}

TEST(BufferPool, ManyMoreThanItKeepsCanBeOutAndReturn) {
  BufferPool pool(100);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint8_t*> out(100);
    for (std::uint8_t*& data : out) data = pool.request();
    EXPECT_EQ(pool.request(), nullptr);
    for (std::uint8_t* data : out) pool.give_back(data);
  }
}

struct Read {
  std::vector<GpuActivity> activities;
  Losses losses;
};

Read read_all(RecordBuffer& buffer) {
  Read result;
  LaunchLinks links;
  RecordReader reader(
      test_call_name, links,
      {[&](const GpuActivity& a) { result.activities.push_back(a); }, [](const MemoryRecord&) {}});
  read_buffer(buffer.filled(), next_record, reader);
  result.losses = reader.losses();
  return result;
}

TEST(ReadBuffer, AnEmptyBufferHoldsNothing) {
  RecordBuffer empty;
  const Read result = read_all(empty);
  EXPECT_TRUE(result.activities.empty());
  EXPECT_EQ(result.losses, Losses{});
}

TEST(ReadBuffer, ARecordThatIsCutOffIsCountedAndNotRead) {
  RecordBuffer buffer;
  buffer.add(kernel_record("a", 1, 10, 20)).add(kernel_record("b", 2, 20, 30));
  buffer.cut(sizeof(NewKernel) - 32);
  const Read result = read_all(buffer);
  ASSERT_EQ(result.activities.size(), 1U);
  EXPECT_EQ(result.activities[0].name, "a");
  EXPECT_EQ(result.losses.cut, 1U);
  EXPECT_EQ(result.losses.total(), 1U);
}

TEST(ReadBuffer, EveryLengthOfACutBufferIsSafe) {
  for (std::size_t cut = 0; cut <= 2 * sizeof(NewKernel) + sizeof(ApiRecord); ++cut) {
    RecordBuffer buffer;
    buffer.add(kernel_record("a", 1, 10, 20));
    buffer.add(call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 1, 5, 9));
    buffer.add(kernel_record("b", 2, 20, 30));
    buffer.cut(cut);
    const Read result = read_all(buffer);
    EXPECT_LE(result.activities.size() + result.losses.cut, 3U);
    EXPECT_EQ(result.losses.unreadable_buffers, 0U);
  }
}

TEST(ReadBuffer, WhatFollowsARecordNobodyCanMeasureIsLostAndSaid) {
  RecordBuffer buffer;
  CUpti_ActivityStream strange{};
  strange.kind = static_cast<CUpti_ActivityKind>(9'999);
  buffer.add(kernel_record("a", 1, 10, 20)).add(strange).add(kernel_record("b", 2, 20, 30));
  const Read result = read_all(buffer);
  EXPECT_EQ(result.activities.size(), 1U);
  EXPECT_EQ(result.losses.unreadable_buffers, 1U);
}

TEST(ReadBuffer, ARecordOfAKindNobodyAskedForIsSteppedOver) {
  RecordBuffer buffer;
  CUpti_ActivityStream stream{};
  stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
  buffer.add(kernel_record("a", 1, 10, 20)).add(stream).add(kernel_record("b", 2, 20, 30));
  const Read result = read_all(buffer);
  EXPECT_EQ(result.activities.size(), 2U);
  EXPECT_EQ(result.losses.unknown, 1U);
  EXPECT_EQ(result.losses.total(), 1U);
}

}  // namespace fathom::record::cuda::activity_buffers_test
