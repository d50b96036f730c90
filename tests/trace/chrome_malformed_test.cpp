// Traces that are broken in the ways real ones are: all that can be read is, and what is not is
// counted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "chrome_text.h"
#include "corpus.h"
#include "sanitized.h"
#include "trace/read.h"

namespace fathom::trace::chrome_malformed_test {

using ::testing::ElementsAre;

// The only warning of a trace, as it is told.
std::string only_warning(const Trace& trace) {
  EXPECT_EQ(trace.warnings.all().size(), 1U);
  return trace.warnings.empty() ? "" : describe(trace.warnings.all().front());
}

TEST(ChromeMalformed, MissingDuration) {
  const Trace trace = read_text(around(kernel("b", R"("ts":200)")));
  EXPECT_THAT(names_of(trace), ElementsAre("a", "c"));
  EXPECT_EQ(only_warning(trace), "1 event without a duration (at byte 89)");
}

TEST(ChromeMalformed, NegativeDuration) {
  const Trace trace = read_text(around(kernel("b", R"("ts":200,"dur":-5)")));
  EXPECT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.warnings.count(WarningKind::negative_duration), 1U);
}

TEST(ChromeMalformed, MissingAndNullTime) {
  const Trace trace =
      read_text(around(kernel("b", R"("dur":5)") + "," + kernel("b", R"("ts":null,"dur":5)")));
  EXPECT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.warnings.count(WarningKind::missing_time), 2U);
}

TEST(ChromeMalformed, TimesThatAreNoNumbers) {
  for (const char* time : {"NaN", "\"soon\"", "1e400", "99999999999999999999"}) {
    const Trace trace = read_text(around(kernel("b", R"("dur":5,"ts":)" + std::string(time))));
    EXPECT_EQ(trace.spans.size(), 2U) << time;
    EXPECT_EQ(trace.warnings.count(WarningKind::bad_number), 1U) << time;
  }
}

TEST(ChromeMalformed, NullAndEmptyEvents) {
  const Trace trace = read_text(around("null,{}"));
  EXPECT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.warnings.count(WarningKind::null_event), 2U);
}

TEST(ChromeMalformed, InvalidEscapesStayAsWritten) {
  const Trace trace = read_text(around(kernel(R"(torch\cuda\x.py \uZZ)", R"("ts":200,"dur":1)")));
  EXPECT_THAT(names_of(trace), ElementsAre("a", R"(torch\cuda\x.py \uZZ)", "c"));
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_escape), 3U);
}

TEST(ChromeMalformed, RawControlCharactersAreKept) {
  const Trace trace = read_text(around(kernel("x\x01y\nz", R"("ts":200,"dur":1)")));
  EXPECT_THAT(names_of(trace), ElementsAre("a", "x\x01y\nz", "c"));
  EXPECT_EQ(trace.warnings.count(WarningKind::control_character), 2U);
}

TEST(ChromeMalformed, BytesThatAreNotUtf8AreKept) {
  const Trace trace = read_text(around(kernel("caf\xE9", R"("ts":200,"dur":1)")));
  EXPECT_THAT(names_of(trace), ElementsAre("a", "caf\xE9", "c"));
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_utf8), 1U);
}

TEST(ChromeMalformed, UnescapedQuotesBelongToTheName) {
  const std::string name = R"(Library("_inductor_test", "IMPL"))";
  const Trace trace = read_text(around(kernel(name, R"("ts":200,"dur":20)")));
  EXPECT_THAT(names_of(trace), ElementsAre("a", name, "c"));
  EXPECT_EQ(trace.warnings.count(WarningKind::unescaped_quote), 4U);
}

TEST(ChromeMalformed, NumbersThatAreNoneInArguments) {
  const Trace trace = read_text(
      around(kernel("b", R"("ts":200,"dur":20,"args":{"x":NaN,"y":-Infinity,"correlation":7})")));
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_number), 2U);
  EXPECT_EQ(trace.spans.correlation[1], 7);
  EXPECT_EQ(trace.args(1), R"({"x":null,"y":null,"correlation":7})");
}

TEST(ChromeMalformed, CommasInWrongPlaces) {
  const Trace trace = read_text(R"({"traceEvents":[,)" + kFirst + ",," + kFirst + kLast + ",]}");
  EXPECT_EQ(trace.spans.size(), 3U);
  EXPECT_EQ(only_warning(trace), "4 misplaced or missing commas (first at byte 16)");
}

TEST(ChromeMalformed, DamageInsideOneEventCostsThatEvent) {
  const Trace trace = read_text(around(R"({"ph":"X","name" 5})"));
  EXPECT_THAT(names_of(trace), ElementsAre("a", "c"));
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_event), 1U);
}

TEST(ChromeMalformed, CutOffAnywhereGivesTheEventsBefore) {
  const std::string whole = around(kernel("b", R"("ts":200.25,"dur":"20","args":{"k":[1,"x"]})"));
  const std::size_t second = whole.find(',', whole.find('}')) + 1;
  const std::size_t third = whole.find(kLast);
  for (std::size_t size = second; size < whole.size(); ++size) {
    const Trace trace = read_text(whole.substr(0, size));
    const std::size_t complete = size < third - 1 ? 1 : size < third + kLast.size() ? 2 : 3;
    EXPECT_EQ(trace.spans.size(), complete) << size;
    EXPECT_EQ(trace.warnings.count(WarningKind::cut_off), 1U) << size;
  }
}

TEST(ChromeMalformed, NothingToReadIsAnError) {
  for (const char* text :
       {"{}", "{\"a\":1}", "[", "{\"traceEvents\":[", "{\"traceEvents\":[{\"ph\":\"X\",", "{"}) {
    EXPECT_THROW(read_text(text), base::Error) << text;
  }
  EXPECT_EQ(read_text("[]").spans.size(), 0U);
  EXPECT_EQ(read_text(R"({"traceEvents":[]})").spans.size(), 0U);
}

TEST(ChromeMalformed, DeepNestingIsReadWithoutDepth) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const Trace trace =
      read_text(around(kernel("b", R"("ts":200,"dur":20,"args":{"deep":)" + deep + "}")));
  EXPECT_EQ(trace.spans.size(), 3U);
  EXPECT_TRUE(trace.warnings.empty());
  EXPECT_EQ(trace.args(1), R"({"deep":)" + deep + "}");
  // The same where the tolerant scanner has to read it.
  EXPECT_EQ(read_text(around("null," + kernel("b", R"("ts":1,"args":{"deep":)" + deep + "}")))
                .spans.size(),
            2U);
}

TEST(ChromeMalformed, UnmatchedEnds) {
  const Trace trace = read_text(
      R"([{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":5},)"
      R"({"ph":"E","pid":1,"tid":1,"ts":6},{"ph":"B","name":"b","pid":1,"tid":1,"ts":7},)" +
      kLast + "]");
  EXPECT_EQ(trace.warnings.count(WarningKind::unmatched_end), 1U);
  EXPECT_EQ(trace.warnings.count(WarningKind::unmatched_begin), 1U);
  ASSERT_THAT(names_of(trace), ElementsAre("a", "b", "c"));
  EXPECT_EQ(trace.spans.duration_ns[0], 4000);
  EXPECT_EQ(trace.spans.kind[1], SpanKind::unfinished);
  EXPECT_EQ(trace.spans.end_ns(1), 330'000);
}

// Time and memory stay in proportion to the text, whatever it is made of.
TEST(ChromeMalformed, HostileTextIsReadInLinearTime) {
  const std::vector<std::string> pieces = {
      R"({"a":"x"y)",          R"(},{"a":[)", "{",    R"("a","b":)", "[",
      R"({"ph":"X","name":")", "},{\"",       "\\\"", ",",           "null "};
  for (const std::string& piece : pieces) {
    std::string text = "[" + kFirst + ",";
    while (text.size() < (kIsSanitized ? 300'000 : 3'000'000)) text += piece;
    EXPECT_GE(read_text(text, 2).spans.size(), 1U) << piece;
  }
}

struct Expected {
  std::size_t spans;
  std::vector<WarningKind> warnings;
};

TEST(ChromeMalformed, CorpusOfMalformedFiles) {
  using enum WarningKind;
  const std::map<std::string, Expected> expected = {
      {"BE_unmatched.json", {3, {unmatched_begin, unmatched_end}}},
      {"bad_escape.json", {3, {bad_escape}}},
      {"control_char.json", {3, {control_character}}},
      {"dup_key.json", {3, {}}},
      {"gz_truncated.json.gz", {2, {damaged_packing}}},
      {"missing_dur.json", {2, {missing_duration}}},
      {"nan_arg.json", {3, {bad_number}}},
      {"ndjson.json", {3, {}}},
      {"neg_dur.json", {2, {negative_duration}}},
      {"null_event.json", {3, {null_event}}},
      {"ok_arr.json", {3, {}}},
      {"ok_obj.json", {3, {}}},
      {"overlap_1ns.json", {3, {}}},
      {"tid_64bit.json", {3, {}}},
      {"trailing_comma.json", {3, {bad_comma}}},
      {"truncated_mid_event.json", {2, {cut_off}}},
      {"ts_epoch_ns.json", {3, {}}},
      {"ts_string.json", {3, {}}},
      {"unescaped_quote.json", {3, {unescaped_quote}}},
      {"unterminated_arr.json", {3, {cut_off}}},
      {"unterminated_obj.json", {3, {cut_off}}},
  };
  const std::vector<std::string> files = corpus_files("malformed");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    const std::string name = file.substr(file.rfind('/') + 1);
    const Trace trace = read_trace(file);
    ASSERT_TRUE(expected.contains(name)) << name;
    EXPECT_EQ(trace.spans.size(), expected.at(name).spans) << name;
    std::vector<WarningKind> kinds;
    for (const Warning& warning : trace.warnings.all()) kinds.push_back(warning.kind);
    EXPECT_EQ(kinds, expected.at(name).warnings) << name;
  }
}

}  // namespace fathom::trace::chrome_malformed_test
