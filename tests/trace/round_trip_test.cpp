#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "trace/random_trace.h"
#include "trace/read/perfetto.h"
#include "trace/trace_lines.h"
#include "trace/write.h"

namespace fathom::trace {
namespace {

using testing::lines_of;
using testing::random_trace;
using testing::TemporaryFile;

Trace read_perfetto_file(const TemporaryFile& file) {
  const auto bytes = std::make_shared<const std::string>(file.bytes());
  return read_perfetto(*bytes, bytes);
}

class RoundTrip : public ::testing::TestWithParam<int> {};

TEST_P(RoundTrip, ThroughPerfettoLosesNothing) {
  const Trace before = random_trace(static_cast<std::uint64_t>(GetParam()));
  const TemporaryFile file("trace.pftrace");
  write_trace(before, file.path());
  const Trace after = read_perfetto_file(file);
  EXPECT_EQ(lines_of(after), lines_of(before));
  EXPECT_TRUE(after.warnings.empty());
  EXPECT_EQ(after.run.title, before.run.title);
  EXPECT_EQ(after.run.command, before.run.command);
  EXPECT_EQ(after.run.rank, before.run.rank);
  EXPECT_EQ(after.run.world_size, before.run.world_size);
  EXPECT_EQ(after.run.base_time_ns, before.run.base_time_ns);
  EXPECT_EQ(after.run.dropped_spans, before.run.dropped_spans);
  ASSERT_EQ(after.run.devices.size(), 1U);
  EXPECT_EQ(after.run.devices[0].memory_bytes, before.run.devices[0].memory_bytes);
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

INSTANTIATE_TEST_SUITE_P(Seeds, RoundTrip, ::testing::Range(0, 24));

}  // namespace
}  // namespace fathom::trace
