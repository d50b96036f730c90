#include "profiler/activity_words.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace fathom::detail::activity_words_test {

bool same(const GpuActivity& a, const GpuActivity& b) {
  return a.kind == b.kind && a.direction == b.direction && a.name == b.name &&
         a.backend == b.backend && a.device == b.device && a.queue == b.queue &&
         a.thread == b.thread && a.correlation == b.correlation && a.bytes == b.bytes &&
         a.scope == b.scope && a.start_ns == b.start_ns && a.end_ns == b.end_ns &&
         a.queued_ns == b.queued_ns && a.submit_ns == b.submit_ns && a.status == b.status &&
         a.size == b.size && a.message == b.message;
}

GpuActivity random_activity(std::mt19937_64& random) {
  const auto any = [&] { return static_cast<std::int64_t>(random()); };
  const auto maybe = [&](auto& value) {
    if (random() % 2 == 0) value = any();
  };
  GpuActivity activity;
  activity.kind = static_cast<ActivityKind>(random() % 6);
  activity.direction = static_cast<CopyDirection>(random() % 5);
  activity.name = Name("name " + std::to_string(random() % 10));
  activity.backend = random() % 2 == 0 ? Name("opencl") : Name();
  activity.device = static_cast<std::int32_t>(any());
  activity.start_ns = any();
  activity.end_ns = any();
  maybe(activity.queue);
  maybe(activity.thread);
  maybe(activity.correlation);
  if (random() % 2 == 0) activity.bytes = random();
  if (random() % 2 == 0) activity.scope = {random()};
  maybe(activity.queued_ns);
  maybe(activity.submit_ns);
  if (random() % 2 == 0) activity.status = static_cast<std::int32_t>(any());
  if (random() % 2 == 0) activity.message = Name("what it said");
  activity.size.dimensions = static_cast<std::uint8_t>(random() % 4);
  for (std::size_t i = 0; i < activity.size.dimensions; ++i) {
    activity.size.global[i] = random();
    activity.size.local[i] = random();
  }
  return activity;
}

TEST(ActivityWords, GiveBackEveryActivityOneAfterTheOther) {
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same each time
  std::vector<GpuActivity> activities;
  for (int i = 0; i < 1000; ++i) activities.push_back(random_activity(random));
  std::vector<std::uint64_t> words(activities.size() * kMostActivityWords);
  std::uint64_t* end = words.data();
  for (const GpuActivity& activity : activities) {
    std::uint64_t* const next = put_activity(end, activity);
    EXPECT_LE(static_cast<std::size_t>(next - end), kMostActivityWords);
    end = next;
  }
  const std::uint64_t* at = words.data();
  for (const GpuActivity& activity : activities) EXPECT_TRUE(same(take_activity(at), activity));
  EXPECT_EQ(at, end);
}

TEST(ActivityWords, TakeTheRoomOfWhatIsThere) {
  std::array<std::uint64_t, kMostActivityWords> words = {};
  GpuActivity call;
  call.kind = ActivityKind::api_call;
  call.thread = 12;
  call.correlation = 1;
  EXPECT_EQ(put_activity(words.data(), call) - words.data(), 6);
}

// What a process left behind in memory may be anything.
TEST(ActivityWords, OfValuesThatThereAreNotAreOthers) {
  std::array<std::uint64_t, kMostActivityWords> words = {};
  put_activity(words.data(), GpuActivity{});
  words[0] |= std::uint64_t{13} << activity_word::kKindAt;
  words[0] |= std::uint64_t{15} << activity_word::kDirectionAt;
  const std::uint64_t* at = words.data();
  const GpuActivity activity = take_activity(at);
  EXPECT_EQ(activity.kind, ActivityKind::other);
  EXPECT_EQ(activity.direction, CopyDirection::unknown);
}

}  // namespace fathom::detail::activity_words_test
