#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "trace/random_trace.h"
#include "trace/read.h"
#include "trace/trace_lines.h"
#include "trace/write.h"

namespace fathom::trace::round_trip_test {

using testing::random_trace;
using testing::TemporaryFile;

class RoundTrip : public ::testing::TestWithParam<int> {};

void expect_nothing_lost(const Trace& before, const std::string& ending) {
  const TemporaryFile file(ending);
  write_trace(before, file.path());
  const Trace after = read_trace(file.path());
  EXPECT_EQ(testing::difference(before, after), "");
  EXPECT_TRUE(after.warnings.empty());
  EXPECT_EQ(after.run.title, before.run.title);
  EXPECT_EQ(after.run.command, before.run.command);
  EXPECT_EQ(after.run.dropped_spans, before.run.dropped_spans);
  EXPECT_EQ(after.run.rank, before.run.rank);
  EXPECT_EQ(after.run.world_size, before.run.world_size);
  EXPECT_EQ(after.run.base_time_ns, before.run.base_time_ns);
  ASSERT_EQ(after.run.devices.size(), 1U);
  EXPECT_EQ(after.run.devices[0].name, before.run.devices[0].name);
  EXPECT_EQ(after.run.devices[0].memory_bytes, before.run.devices[0].memory_bytes);
}

TEST_P(RoundTrip, ThroughPerfettoLosesNothing) {
  expect_nothing_lost(random_trace(static_cast<std::uint64_t>(GetParam())), "trace.pftrace");
}

// JSON is UTF-8: names that are not are the one thing it cannot carry as they are.
TEST_P(RoundTrip, ThroughChromeJsonLosesNothing) {
  const Trace before = random_trace(static_cast<std::uint64_t>(GetParam()), {.odd_bytes = false});
  constexpr std::array kEndings = {"trace.json", "trace.json.gz", "trace.json.zst"};
  expect_nothing_lost(before, kEndings[static_cast<std::size_t>(GetParam()) % kEndings.size()]);
}

TEST_P(RoundTrip, ChromeJsonIsJsonWithEverySpanInIt) {
  const Trace trace = random_trace(static_cast<std::uint64_t>(GetParam()));
  const TemporaryFile file("trace.json");
  write_trace(trace, file.path());
  const auto json = nlohmann::json::parse(file.bytes());
  std::size_t spans = 0;
  for (const auto& event : json["traceEvents"]) spans += event["ph"] == "X" ? 1 : 0;
  EXPECT_EQ(spans, trace.spans.size());
}

// A real trace, with its arguments: Chrome → Perfetto → Chrome.
TEST(RoundTripOfAFile, KinetoThroughPerfettoKeepsArgumentsToo) {
  const char* corpus = std::getenv("FATHOM_CORPUS");
  const std::string path =
      std::string(corpus != nullptr ? corpus : FATHOM_SOURCE_DIR "/../shared/corpus") +
      "/kineto/a100_simple_add.json.gz";
  if (!std::ifstream(path)) GTEST_SKIP() << "no " << path;
  const Trace before = read_trace(path);
  const TemporaryFile perfetto("kineto.pftrace");
  write_trace(before, perfetto.path());
  const Trace between = read_trace(perfetto.path());
  EXPECT_EQ(testing::difference(before, between), "");
  const TemporaryFile chrome("kineto.json");
  write_trace(between, chrome.path());
  const Trace after = read_trace(chrome.path());
  EXPECT_EQ(testing::difference(before, after), "");
  const auto parsed = [](const std::string& args) {
    return args.empty() ? nlohmann::json::object() : nlohmann::json::parse(args);
  };
  for (SpanId id = 0; id < before.spans.size(); ++id) {
    ASSERT_EQ(parsed(between.args(id)), parsed(before.args(id))) << before.name(id);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundTrip, ::testing::Range(0, 24));

}  // namespace fathom::trace::round_trip_test
