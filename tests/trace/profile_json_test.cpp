#include "trace/read/profile/profile_json.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "trace/random_trace.h"
#include "trace/trace_lines.h"
#include "trace/write.h"

namespace fathom::trace::profile_json_test {

using testing::TemporaryFile;

Trace read(const std::string& text) {
  const auto owned = std::make_shared<const std::string>(text);
  return read_profile_json(*owned, owned);
}

constexpr const char* kProfile = R"({"fathom": "0.1.0",
 "run": {"command": "train.py --epochs 3", "rank": 2, "world_size": 4, "dropped_entries": 5},
 "entries": [
  {"operation": "step", "start_time": 1700000000.000000001, "end_time": 1700000000.000001001,
   "duration_ms": 0.001, "device": "gpu", "gpu_time_ms": 0.0005, "thread": 11, "parent": null},
  {"operation": "matmul \"a\"", "start_time": 1700000000.000000101,
   "end_time": 1700000000.000000601, "duration_ms": 0.0005, "gpu_time_ms": null,
   "memory_peak_mb": NaN, "thread": 11, "parent": 0, "attributes": {"size": [3, 4]}},
  {"operation": "load", "start_time": 1700000000.5, "duration_ms": 1.25, "thread": "io"}],
 "summary": {"step": {"call_count": 3, "total_time_ms": 4.5, "min_time_ms": 1, "p95_ms": 2.25,
                      "total_gpu_time_ms": null, "avg_gpu_utilization": 0.5}}})";

TEST(ProfileJson, EntriesAreScopesWithExactTimes) {
  const Trace trace = read(kProfile);
  ASSERT_EQ(trace.spans.size(), 3U);
  EXPECT_EQ(trace.name(0), "step");
  EXPECT_EQ(trace.spans.start_ns[0], 1'700'000'000'000'000'001);
  EXPECT_EQ(trace.spans.duration_ns[0], 1'000);
  EXPECT_EQ(trace.spans.kind[0], SpanKind::scope);
  EXPECT_EQ(trace.name(1), "matmul \"a\"");
  EXPECT_EQ(trace.spans.parent[1], 0U);
  EXPECT_EQ(trace.spans.duration_ns[2], 1'250'000);
  ASSERT_EQ(trace.tracks.size(), 2U);
  EXPECT_EQ(trace.tracks[0].tid, 11);
  EXPECT_EQ(trace.tracks[1].tid_text, "io");
  EXPECT_EQ(trace.run.command, "train.py --epochs 3");
  EXPECT_EQ(trace.run.rank, 2);
  EXPECT_EQ(trace.run.dropped_spans, 5);
  EXPECT_EQ(trace.run.base_time_ns, 0);
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(ProfileJson, TheFieldsOfAnEntryAreItsArguments) {
  const auto args = nlohmann::json::parse(read(kProfile).args(1));
  EXPECT_TRUE(args["gpu_time_ms"].is_null());
  EXPECT_TRUE(args["memory_peak_mb"].is_null());  // NaN is unknown
  EXPECT_EQ(args["attributes"]["size"][1], 4);
}

TEST(ProfileJson, ASummaryCarriesFiguresWithoutEntries) {
  const Trace trace = read(R"({"summary": {"a": {"call_count": 4, "avg_time_ms": 2}}})");
  EXPECT_EQ(trace.spans.size(), 0U);
  ASSERT_EQ(trace.operations.size(), 1U);
  EXPECT_EQ(trace.operations[0].operation, "a");
  EXPECT_EQ(trace.operations[0].calls, 4U);
  EXPECT_EQ(trace.operations[0].total_ns, 8e6);
  EXPECT_FALSE(trace.operations[0].p95_ns.has_value());
}

TEST(ProfileJson, EntriesWithoutTimesFollowEachOther) {
  const Trace trace = read(R"([{"operation": "a", "duration_ms": 1.5},
                               {"operation": "b", "duration_ms": 2}])");
  ASSERT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.spans.start_ns[1], 1'500'000);
  EXPECT_EQ(trace.spans.duration_ns[1], 2'000'000);
}

TEST(ProfileJson, TimesMayBeWholeNanoseconds) {
  const Trace trace = read(R"({"entries": [{"operation": "a", "start_time": 1700000000123456789,
                                           "end_time": 1700000000123456799}]})");
  ASSERT_EQ(trace.spans.size(), 1U);
  EXPECT_EQ(trace.spans.start_ns[0], 1'700'000'000'123'456'789);
  EXPECT_EQ(trace.spans.duration_ns[0], 10);
}

TEST(ProfileJson, FieldsOfTheWrongTypeAreCounted) {
  const Trace trace = read(R"({"entries": [
      {"operation": 12, "duration_ms": "1.5"}, {"operation": "b"}, null, 7,
      {"operation": "c", "duration_ms": {}}], "summary": {"a": {"call_count": "x"}, "b": 3}})");
  ASSERT_EQ(trace.spans.size(), 1U);
  EXPECT_EQ(trace.name(0), "12");
  EXPECT_EQ(trace.spans.duration_ns[0], 1'500'000);
  EXPECT_EQ(trace.warnings.count(WarningKind::unknown_field_type), 5U);
  EXPECT_EQ(trace.warnings.count(WarningKind::missing_duration), 2U);
  EXPECT_EQ(trace.warnings.count(WarningKind::null_event), 1U);
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_event), 1U);
}

TEST(ProfileJson, CutAtAnyByteWhatCameBeforeIsThere) {
  const std::string whole = kProfile;
  std::size_t spans = 0;
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const Trace trace = read(whole.substr(0, cut));
    EXPECT_GE(trace.spans.size(), spans) << "cut at " << cut;
    EXPECT_EQ(trace.warnings.count(WarningKind::cut_off), 1U) << "cut at " << cut;
    spans = trace.spans.size();
  }
  EXPECT_EQ(spans, 3U);
}

TEST(ProfileJson, ADamagedEntryIsSkipped) {
  const Trace trace = read(R"({"entries": [{"operation": "a", "duration_ms": 1},
      {"operation": "b", "duration_ms": oops}, {"operation": "c", "duration_ms": 1}]})");
  ASSERT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.name(1), "c");
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_event), 1U);
}

TEST(ProfileJson, WrittenAndReadAgainItIsTheSame) {
  const Trace before = read(kProfile);
  const TemporaryFile file("again.profile.json");
  write_trace(before, file.path());
  const Trace after = read(file.bytes());
  EXPECT_EQ(testing::difference(before, after), "");
  EXPECT_EQ(nlohmann::json::parse(after.args(1))["attributes"]["size"][1], 4);
  ASSERT_EQ(after.operations.size(), 1U);
  EXPECT_EQ(after.operations[0].p95_ns, before.operations[0].p95_ns);
  EXPECT_EQ(after.operations[0].gpu_ns, std::nullopt);
}

TEST(ProfileJson, AnyTraceHasAProfileOfItsScopes) {
  const Trace before = testing::random_trace(3);
  const TemporaryFile file("any.profile.json");
  write_trace(before, file.path());
  const auto json = nlohmann::json::parse(file.bytes());
  std::size_t scopes = 0;
  for (const SpanKind kind : before.spans.kind) scopes += kind == SpanKind::scope ? 1 : 0;
  EXPECT_EQ(json["entries"].size(), scopes);
  std::size_t calls = 0;
  for (const auto& [operation, figures] : json["summary"].items()) {
    calls += figures["call_count"].get<std::size_t>();
    EXPECT_LE(figures["p50_ms"], figures["max_time_ms"]);
  }
  EXPECT_EQ(calls, scopes);
  EXPECT_EQ(read(file.bytes()).spans.size(), scopes);
}

}  // namespace fathom::trace::profile_json_test
