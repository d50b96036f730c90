// The ways through the reader must not show: fast or tolerant, one thread or many, packed or not.

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "chrome_text.h"
#include "deflated.h"
#include "sanitized.h"
#include "trace/read/chrome/blocks.h"

namespace fathom::trace::chrome_blocks_test {

// A random event of any phase, with arguments that look like events themselves.
std::string random_event(std::mt19937& random) {
  const auto pick = [&](std::vector<std::string> of) { return of[random() % of.size()]; };
  const std::string phase = pick({"X", "X", "X", "X", "B", "E", "i", "s", "f", "C", "b", "e", "M"});
  const std::string name = pick({"op", "[memory]", "a\\\"b", "\\u00e9", "", "process_name",
                                 "x},{\\\"ph\\\":\\\"X\\\"", "bad\\c"});
  const std::string args =
      pick({R"({})", R"({"correlation": 5, "bytes": 7})", R"({"value": 1.25})",
            R"({"list":[{"ph":"X","name":"fake"},{"ph":"X","name":"fake","ts":1,"dur":1}]})",
            R"({"Bytes":-8,"Device Type":1})", R"({"name":"n","deep":[[[{"a":[]}]]]})",
            R"({"text":"},{\"ph\":\"X\"","n":-1.5e3})"});
  std::vector<std::string> fields = {
      R"("ph": ")" + phase + '"',
      R"("name":")" + name + '"',
      R"("cat":")" + pick({"cpu_op", "kernel", "gpu_memcpy", "ac2g", "cuda_runtime", "own"}) + '"',
      R"("pid" : )" + pick({"1", "2", "\"Spans\""}),
      R"("tid":)" + pick({"1", "140589156634432", "\"stream 7\""}),
      R"("ts":)" + std::to_string(random() % 100'000) + "." + std::to_string(random() % 1000),
      R"("dur":)" + pick({"1", "20.5", "\"3\"", "0", "-1"}),
      R"("id":)" + std::to_string(random() % 5),
      R"("args":)" + args,
  };
  std::shuffle(fields.begin(), fields.end(), random);
  if (random() % 8 == 0) fields.pop_back();
  std::string event = "{";
  for (const std::string& field : fields) event += (event.size() > 1 ? ", " : "") + field;
  return event + "}";
}

// Everything of a trace that may not depend on the way, with sources moved by `shift`.
std::string describe_all(const Trace& trace, std::uint64_t shift = 0) {
  std::string out;
  const auto add = [&](auto value) { out += std::to_string(value) + ' '; };
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    out += std::string(trace.name(id)) + ' ';
    add(trace.spans.start_ns[id]);
    add(trace.spans.duration_ns[id]);
    add(trace.spans.correlation[id]);
    add(trace.spans.track[id]);
    add(static_cast<int>(trace.spans.kind[id]));
    add(trace.spans.source[id] - shift);
    out += '\n';
  }
  for (const Track& track : trace.tracks) {
    add(track.pid);
    add(track.tid);
    out += track.pid_text + ' ' + track.tid_text + ' ' + track.process_name + '\n';
  }
  for (const SpanBytes& item : trace.bytes) add(item.span);
  for (const Instant& item : trace.instants) add(item.time_ns);
  for (const MemoryEvent& item : trace.memory) add(item.time_ns);
  for (const FlowPoint& item : trace.flows) add(item.time_ns);
  for (const Counter& item : trace.counters) {
    for (const double value : item.value) add(value);
  }
  for (const Warning& warning : trace.warnings.all()) {
    if (warning.kind == WarningKind::null_event) continue;
    add(static_cast<int>(warning.kind));
    add(warning.count);
  }
  return out;
}

std::string random_events(std::uint32_t seed, std::size_t size) {
  std::mt19937 random(seed);
  std::string events;
  while (events.size() < size) {
    if (!events.empty()) events += random() % 2 == 0 ? ",\n" : ", ";
    events += random_event(random);
  }
  return events;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

TEST(ChromeBlocks, FastAndTolerantScannersAgree) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::string events = random_events(seed, 2000);
    const Trace fast = read_text("[" + events + "]");
    // The fast scanner stops at null, and leaves all that follows to the other.
    const Trace tolerant = read_text("[null," + events + "]");
    ASSERT_EQ(describe_all(fast), describe_all(tolerant, 5)) << events;
  }
}

TEST(ChromeBlocks, ThreadsAndPackingDoNotShow) {
  for (std::uint32_t seed = 0; seed < (kIsSanitized ? 1 : 4); ++seed) {
    const std::string text = R"({"traceEvents":[)" + random_events(seed, 3'000'000) + "]}";
    const std::string one = describe_all(read_text(text, 1));
    EXPECT_EQ(describe_all(read_text(text, 3)), one);
    EXPECT_EQ(describe_all(read_text(deflated(text), 2)), one);
    EXPECT_EQ(describe_all(read_text(zstd(text), 2)), one);
    const std::size_t half = text.size() / 2;
    EXPECT_EQ(
        describe_all(read_text(deflated(text.substr(0, half)) + deflated(text.substr(half)), 2)),
        one);
  }
}

TEST(ChromeBlocks, WrongGuessesAreNoticed) {
  // Only fakes are complete events with a phase where blocks end: each guess is wrong.
  std::string fakes;
  for (int i = 0; i < 400; ++i) fakes += R"({"ph":"X","name":"fake","ts":1,"dur":1},)";
  const std::string event = kernel("real", R"("ts":1,"dur":1,"args":{"list":[)" + fakes + "{}]}");
  std::string text = "[" + event;
  for (int i = 1; i < 300; ++i) text += "," + event;
  text += "]";
  for (const std::string& packed : {text, deflated(text)}) {
    const Trace trace = read_text(packed, 2);
    EXPECT_EQ(trace.spans.size(), 300U);
    EXPECT_EQ(trace.name(0), "real");
    EXPECT_TRUE(trace.warnings.empty());
  }
}

TEST(ChromeBlocks, CutOffPackingGivesWhatCanBeUnpacked) {
  const std::string text = "[" + random_events(1, 1'000'000) + "]";
  for (const std::string& packed : {deflated(text), zstd(text)}) {
    const Trace trace = read_text(packed.substr(0, packed.size() / 2), 2);
    EXPECT_GT(trace.spans.size(), 100U);
    EXPECT_EQ(trace.warnings.count(WarningKind::damaged_packing), 1U);
    EXPECT_EQ(trace.warnings.count(WarningKind::cut_off), 0U);  // one cause, one line
  }
}

TEST(ChromeBlocks, EventsLargerThanABlock) {
  const std::string large(3'000'000, 'x');
  const Trace trace =
      read_text(around(kernel("b", R"("ts":200,"dur":20,"args":{"text":")" + large + "\"}")), 2);
  EXPECT_EQ(trace.spans.size(), 3U);
  EXPECT_EQ(trace.args(1), R"({"text":")" + large + "\"}");
}

}  // namespace fathom::trace::chrome_blocks_test
