#include "trace/write.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "trace/builder.h"
#include "trace/trace_lines.h"
#include "trace/write/lanes.h"

namespace fathom::trace::write_test {

using testing::TemporaryFile;

// One span whose arguments are the given text.
Trace trace_of(std::int64_t start_ns, std::int64_t duration_ns, const std::string& name,
               const std::string& args = "", SpanKind kind = SpanKind::kernel) {
  TracePart part;
  SpanRow row;
  row.start_ns = start_ns;
  row.duration_ns = duration_ns;
  row.name = part.names.intern(name);
  row.kind = kind;
  row.correlation = 5;
  row.source = 0;
  row.track = part.track(TrackKind::gpu_stream, 0, 7);
  part.spans.push_back(row);
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  Trace trace = assemble(std::move(parts), {});
  trace.args_at = [args](std::uint64_t) { return args; };
  return trace;
}

nlohmann::json span_written(const Trace& trace) {
  const TemporaryFile file("one.json");
  write_trace(trace, file.path());
  const auto json = nlohmann::json::parse(file.bytes());
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "X") return event;
  }
  return {};
}

TEST(ChromeJson, TimesKeepTheirNanoseconds) {
  const TemporaryFile file("times.json");
  write_trace(trace_of(1'669'783'687'384'669'123, 5, "k"), file.path());
  EXPECT_NE(file.bytes().find("\"ts\":1669783687384669.123,\"dur\":0.005"), std::string::npos);
  write_trace(trace_of(-5, 2'000, "k"), file.path());
  EXPECT_NE(file.bytes().find("\"ts\":-0.005,\"dur\":2,"), std::string::npos);
}

TEST(ChromeJson, ArgumentsAreMergedAndNoKeyComesTwice) {
  const TemporaryFile file("args.json");
  write_trace(trace_of(1, 2, "k", R"({"grid":[1,2],"correlation":99,"x":1.50,"grid":[3],"y":"ä"})"),
              file.path());
  const std::string text = file.bytes();
  EXPECT_EQ(text.find("99"), std::string::npos);
  EXPECT_NE(text.find("\"x\":1.50"), std::string::npos);
  const auto args = span_written(trace_of(
      1, 2, "k", R"({"grid":[1,2],"correlation":99,"x":1.50,"grid":[3],"y":"ä"})"))["args"];
  EXPECT_EQ(args, nlohmann::json::parse(R"({"correlation":5,"grid":[3],"x":1.5,"y":"ä"})"));
}

TEST(ChromeJson, DamagedArgumentsAreRepaired) {
  const auto event = span_written(trace_of(1, 2, "k", R"({"loss": NaN, "path": "C:\users"})"));
  EXPECT_TRUE(event["args"]["loss"].is_null());
  EXPECT_EQ(event["args"]["path"], R"(C:\users)");
  EXPECT_EQ(event["args"]["correlation"], 5);
}

TEST(ChromeJson, BytesThatAreNoTextBecomeReplacementCharacters) {
  EXPECT_EQ(span_written(trace_of(1, 2, "bad \xff name"))["name"], "bad \xEF\xBF\xBD name");
}

TEST(ChromeJson, IsPackedAsTheNameSays) {
  const Trace trace = trace_of(1, 2, "k");
  const TemporaryFile plain("p.json");
  const TemporaryFile packed("p.json.gz");
  const TemporaryFile zstd("p.json.zst");
  write_trace(trace, plain.path());
  write_trace(trace, packed.path());
  write_trace(trace, zstd.path());
  gzFile file = gzopen(packed.path().c_str(), "rb");
  std::string text(plain.bytes().size() + 10, '\0');
  text.resize(
      static_cast<std::size_t>(gzread(file, text.data(), static_cast<unsigned>(text.size()))));
  gzclose(file);
  EXPECT_EQ(text, plain.bytes());
  EXPECT_EQ(zstd.bytes().substr(0, 4), "\x28\xB5\x2F\xFD");
}

TEST(WriteTrace, ANameThatSaysNoFormatIsAnError) {
  try {
    write_trace(Trace(), "trace.txt");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_NE(error.hint().find(".pftrace"), std::string::npos);
  }
}

TEST(WriteTrace, LeavesNothingBehindWhereItFails) {
  EXPECT_THROW(write_trace(Trace(), "/no/such/place/trace.json"), base::Error);
  EXPECT_THROW(write_trace(Trace(), ::testing::TempDir() + "/../tmp", OutputFormat::chrome_json),
               base::Error);
  EXPECT_THROW(write_trace(trace_of(1, 2, "k"), "/dev/full", OutputFormat::perfetto), base::Error);
}

TEST(WriteTrace, ReplacesAFileOnlyWhenTheNewOneIsWhole) {
  const TemporaryFile file("old.json");
  std::ofstream(file.path()) << "old";
  Trace trace = trace_of(1, 2, "k");
  trace.args_at = [](std::uint64_t) -> std::string { throw base::Error("trace", "went away"); };
  EXPECT_THROW(write_trace(trace, file.path()), base::Error);
  EXPECT_EQ(file.bytes(), "old");
}

std::vector<std::uint32_t> lanes_of_pairs(
    const std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
  TracePart part;
  const TrackId track = part.track(TrackKind::thread, 1, 1);
  for (const auto& [start, end] : spans) {
    SpanRow row;
    row.start_ns = start;
    row.duration_ns = end - start;
    row.track = track;
    part.spans.push_back(row);
  }
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  const Trace trace = assemble(std::move(parts), {});
  return lanes_of(trace.spans, trace.tracks[0]);
}

TEST(Lanes, OnlyPartialOverlapNeedsAnother) {
  using L = std::vector<std::uint32_t>;
  EXPECT_EQ(lanes_of_pairs({{0, 10}, {2, 5}, {5, 10}, {10, 12}}), (L{0, 0, 0, 0}));
  EXPECT_EQ(lanes_of_pairs({{0, 10}, {9, 20}, {20, 30}}), (L{0, 1, 0}));
  EXPECT_EQ(lanes_of_pairs({{0, 10}, {0, 10}, {10, 10}, {10, 10}}), (L{0, 0, 0, 0}));
}

TEST(Lanes, AStaircaseOfSpansTakesALaneEachAndNotLonger) {
  std::vector<std::pair<std::int64_t, std::int64_t>> stairs;
  for (std::int64_t i = 0; i < 200'000; ++i) stairs.emplace_back(i, i + 1'000);
  const auto lanes = lanes_of_pairs(stairs);
  EXPECT_LE(*std::max_element(lanes.begin(), lanes.end()), 1'000U);
}

}  // namespace fathom::trace::write_test
