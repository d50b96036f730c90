// What valid traces of all versions mean.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_text.h"
#include "chrome_text.h"
#include "trace/read/chrome/category.h"
#include "trace/read/number.h"

namespace fathom::trace::chrome_forms_test {

using ::testing::ElementsAre;

TEST(ChromeForms, ObjectArrayLinesAndConcatenatedArrays) {
  const std::string two = kFirst + ",\n" + kLast;
  const std::vector<std::string> documents = {
      R"({"traceEvents":[)" + two + "]}",
      "\xEF\xBB\xBF{\"other\":[1,{}],\"traceEvents\":[" + two + "],\"more\":{}}",
      "[" + two + "]",
      " \n[ " + two + " ] ",
      kFirst + "\n" + kLast + "\n",
      kFirst + "\n" + kLast,
      kFirst + ",\n" + kLast + "\n",
      "[" + kFirst + "][" + kLast + "]",
      "[" + kFirst + "]\n[" + kLast + "]\n",
  };
  for (const std::string& document : documents) {
    const Trace trace = read_text(document);
    EXPECT_THAT(names_of(trace), ElementsAre("a", "c")) << document;
    EXPECT_TRUE(trace.warnings.empty()) << document;
  }
}

TEST(ChromeForms, TimesAreExact) {
  EXPECT_EQ(parse_time_ns("1727740800000000.123"), 1727740800000000123);
  EXPECT_EQ(parse_time_ns("0"), 0);
  EXPECT_EQ(parse_time_ns("1"), 1000);
  EXPECT_EQ(parse_time_ns("0.001"), 1);
  EXPECT_EQ(parse_time_ns("12.5"), 12500);
  EXPECT_EQ(parse_time_ns("-3.25"), -3250);
  EXPECT_EQ(parse_time_ns("1.0004"), 1000);
  EXPECT_EQ(parse_time_ns("1.0005"), 1001);
  EXPECT_EQ(parse_time_ns("0.00049999"), 0);
  EXPECT_EQ(parse_time_ns("1.5e3"), 1'500'000);
  EXPECT_EQ(parse_time_ns("15E-1"), 1500);
  EXPECT_EQ(parse_time_ns("1e-9"), 0);
  EXPECT_EQ(parse_time_ns(" 20 "), 20'000);
  EXPECT_EQ(parse_time_ns("4611686018427387.904"), kMaxTime);
  EXPECT_EQ(parse_time_ns("4611686018427387.905"), std::nullopt);
  EXPECT_EQ(parse_time_ns("1e30"), std::nullopt);
  EXPECT_EQ(parse_time_ns("1e-100000000000000000000"), 0);
  for (const char* text : {"", "-", ".", "1.2.3", "abc", "1e", "0x10", "1 2", "--1"}) {
    EXPECT_EQ(parse_time_ns(text), std::nullopt) << text;
  }
}

// Against arithmetic on whole numbers, for every count of digits.
TEST(ChromeForms, TimesOfAllLengthsAreExact) {
  std::uint64_t value = 7;
  for (int i = 0; i < 20'000; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t ns = (value >> 2) >> (i % 62);
    const std::string digits = std::to_string(ns % 1000);
    const std::string text =
        std::to_string(ns / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
    ASSERT_EQ(parse_time_ns(text), static_cast<std::int64_t>(ns)) << text;
    ASSERT_EQ(parse_integer(std::to_string(ns)), static_cast<std::int64_t>(ns));
    ASSERT_EQ(parse_integer("-" + std::to_string(ns)), -static_cast<std::int64_t>(ns));
  }
}

TEST(ChromeForms, NamesAreUnescaped) {
  std::string text;
  EXPECT_EQ(base::unescape(R"(a\"\\\/\b\f\n\r\tz)", text), 0U);
  EXPECT_EQ(text, "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(base::unescape(R"(\u00e9\u20AC\ud83d\ude00)", text), 0U);
  EXPECT_EQ(text, "\u00e9\u20ac\U0001F600");
  EXPECT_EQ(base::unescape(R"(\ud83d \uDE00 \u12 \)", text), 4U);
  EXPECT_EQ(text, R"(\ud83d \uDE00 \u12 \)");
}

TEST(ChromeForms, KindsOfAllVersions) {
  EXPECT_EQ(category_of("Operator").kind, SpanKind::cpu_op);
  EXPECT_EQ(category_of("cpu_op").kind, SpanKind::cpu_op);
  EXPECT_EQ(category_of("Runtime").kind, SpanKind::runtime_call);
  EXPECT_EQ(category_of("cuda_driver").kind, SpanKind::runtime_call);
  EXPECT_EQ(category_of("Memcpy").kind, SpanKind::copy);
  EXPECT_EQ(category_of("gpu_memset").kind, SpanKind::fill);
  EXPECT_EQ(category_of("cuda_sync").kind, SpanKind::sync);
  EXPECT_EQ(category_of("overhead").kind, SpanKind::overhead);
  EXPECT_EQ(category_of("Trace").kind, SpanKind::other);
  EXPECT_EQ(category_of("python_function").kind, SpanKind::python);
  EXPECT_EQ(category_of("gpu_user_annotation").kind, SpanKind::gpu_annotation);
}

TEST(ChromeForms, LastOfTwoEqualKeysWins) {
  const Trace trace =
      read_text(around(R"({"ph":"X","name":"b","name":"b2","tid":7,"ts":1,"ts":200,"dur":5})"));
  EXPECT_THAT(names_of(trace), ElementsAre("a", "b2", "c"));
  EXPECT_EQ(trace.spans.start_ns[1], 200'000);
}

TEST(ChromeForms, TracksOfThreadsAndStreams) {
  const Trace trace = read_text(
      R"([{"ph":"X","cat":"cpu_op","name":"op","pid":5,"tid":"140589156634432","ts":1,"dur":1},)"
      R"({"ph":"s","cat":"fwdbwd","id":"0x1F","pid":5,"tid":140589156634432,"ts":1},)"
      R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":1,"dur":1,)"
      R"("args":{"device":3,"stream":7,"correlation":"12"}},)"
      R"({"ph":"X","name":"mark","pid":0,"tid":"stream 7","ts":9,"dur":1},)"
      R"({"ph":"M","name":"process_name","pid":5,"args":{"name":"python"}},)"
      R"({"ph":"M","name":"thread_name","pid":5,"tid":140589156634432,"args":{"name":"main"}}])");
  ASSERT_EQ(trace.tracks.size(), 2U);
  const Track& thread = trace.tracks[0];
  EXPECT_EQ(thread.kind, TrackKind::thread);
  EXPECT_EQ(thread.tid, 140589156634432);
  EXPECT_EQ(thread.process_name, "python");
  EXPECT_EQ(thread.thread_name, "main");
  const Track& stream = trace.tracks[1];
  EXPECT_EQ(stream.kind, TrackKind::gpu_stream);
  EXPECT_EQ(stream.tid_text, "stream 7");
  EXPECT_EQ(stream.device, 3);
  EXPECT_EQ(stream.stream, 7);
  EXPECT_EQ(stream.span_count, 2U);
  EXPECT_EQ(trace.spans.correlation[stream.first_span], 12);
  ASSERT_EQ(trace.flows.size(), 1U);
  EXPECT_EQ(trace.flows[0].id, 0x1FU);
  EXPECT_EQ(trace.flows[0].track, 0U);
}

TEST(ChromeForms, MemoryOfAllVersions) {
  const Trace trace = read_text(
      R"([{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":2,)"
      R"("args":{"Total Reserved":9,"Total Allocated":8,"Bytes":-4,"Addr":18446744073709551615,)"
      R"("Device Id":1,"Device Type":6}},)"
      R"({"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":1,)"
      R"("args":{"Device Type":0,"Device Id":-1,"Bytes":4}}])");
  ASSERT_EQ(trace.memory.size(), 2U);
  EXPECT_EQ(trace.memory[0].bytes, 4);
  EXPECT_EQ(trace.memory[0].device, MemoryDevice::cpu);
  EXPECT_EQ(trace.memory[0].address, std::nullopt);
  EXPECT_EQ(trace.memory[1].bytes, -4);
  EXPECT_EQ(trace.memory[1].address, UINT64_MAX);
  EXPECT_EQ(trace.memory[1].total_allocated, 8);
  EXPECT_EQ(trace.memory[1].device, MemoryDevice::gpu);
  EXPECT_EQ(trace.memory[1].device_index, 1);
}

TEST(ChromeForms, CountersInstantsAndAsyncSpans) {
  const Trace trace =
      read_text(R"([{"ph":"C","name":"power","pid":1,"ts":2,"args":{"value":1.5}},)"
                R"({"args":{"gpu":3,"cpu":"no number"},"name":"load","ph":"C","pid":1,"ts":1},)"
                R"({"ph":"C","name":"power","pid":1,"ts":1,"args":{"value":2}},)"
                R"({"ph":"b","cat":"net","id":"0x2","name":"get","pid":1,"ts":10},)"
                R"({"ph":"b","cat":"net","id":"0x3","name":"put","pid":1,"ts":11},)"
                R"({"ph":"e","cat":"net","id":"0x2","pid":1,"ts":15},)"
                R"({"ph":"e","cat":"net","id":"0x3","pid":1,"ts":12},)"
                R"({"ph":"i","name":"mark","pid":1,"tid":4,"ts":3}])");
  ASSERT_EQ(trace.counters.size(), 2U);
  EXPECT_EQ(trace.names.view(trace.counters[0].name), "power");
  EXPECT_THAT(trace.counters[0].time_ns, ElementsAre(1000, 2000));
  EXPECT_THAT(trace.counters[0].value, ElementsAre(2, 1.5));
  EXPECT_EQ(trace.names.view(trace.counters[1].name), "load.gpu");
  ASSERT_EQ(trace.instants.size(), 1U);
  EXPECT_EQ(trace.names.view(trace.instants[0].name), "mark");
  EXPECT_THAT(names_of(trace), ElementsAre("get", "put"));
  EXPECT_EQ(trace.spans.duration_ns[0], 5000);
  EXPECT_EQ(trace.tracks[trace.spans.track[0]].kind, TrackKind::async);
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(ChromeForms, LaunchArrowsAreLeftOut) {
  const Trace trace = read_text("[" + kFirst +
                                R"(,{"ph":"s","cat":"ac2g","id":1,"pid":0,"tid":7,"ts":1},)"
                                R"({"ph":"f","cat":"async","id":1,"pid":0,"tid":7,"ts":1},)"
                                R"({"ph":"f","cat":"fwdbwd","id":1,"pid":0,"tid":7,"ts":1}])");
  ASSERT_EQ(trace.flows.size(), 1U);
  EXPECT_EQ(trace.flows[0].phase, FlowPhase::end);
  EXPECT_EQ(trace.tracks.size(), 1U);  // the arrow ends on the stream
}

TEST(ChromeForms, RunInfo) {
  const Trace trace = read_text(
      R"({"schemaVersion":1,"deviceProperties":[{"id":1,"name":"V100","totalGlobalMem":34089730048,)"
      R"("numSms":80}],"traceEvents":[],"distributedInfo":{"rank":1,"world_size":2},)"
      R"("traceName":"/tmp/t.json","baseTimeNanoseconds":1711964646000000000})");
  EXPECT_EQ(trace.run.format, "Kineto JSON");
  EXPECT_EQ(trace.run.title, "/tmp/t.json");
  EXPECT_EQ(trace.run.rank, 1);
  EXPECT_EQ(trace.run.world_size, 2);
  EXPECT_EQ(trace.run.base_time_ns, 1711964646000000000);
  ASSERT_EQ(trace.run.devices.size(), 1U);
  EXPECT_EQ(trace.run.devices[0].multiprocessors, 80);
  EXPECT_EQ(read_text("[]").run.format, "Chrome JSON");
}

TEST(ChromeForms, CopiesKnowTheirBytes) {
  const Trace trace =
      read_text("[" + kLast +
                R"(,{"ph":"X","cat":"gpu_memcpy","name":"copy","pid":0,"tid":7,"ts":5,"dur":1,)"
                R"("args":{"bytes":92928}}])");
  ASSERT_EQ(trace.bytes.size(), 1U);
  EXPECT_EQ(trace.name(trace.bytes[0].span), "copy");
  EXPECT_EQ(trace.bytes[0].bytes, 92928);
}

std::string shape_of(const std::string& event) {
  const Trace trace = read_text("[" + event + "]");
  EXPECT_EQ(trace.spans.size(), 1U) << event;
  return std::string(trace.names.view(trace.spans.shape.at(0)));
}

TEST(ChromeForms, ShapesOfLaunchesAndOperands) {
  const auto op = [](const std::string& args) {
    return R"({"ph":"X","cat":"cpu_op","name":"mm","pid":1,"tid":1,"ts":0,"dur":1,"args":{)" +
           args + "}}";
  };
  const auto launch = [](const std::string& args) {
    return kernel("k", R"("ts":0,"dur":1,"args":{)" + args + "}");
  };
  EXPECT_EQ(shape_of(launch(R"("stream":7,"grid":[32, 1, 1],"block":[256,1,1])")),
            "grid 32x1x1, block 256x1x1");
  EXPECT_EQ(shape_of(launch(R"("grid":[4,2,1])")), "grid 4x2x1");
  EXPECT_EQ(shape_of(launch(R"("stream":7)")), "");
  EXPECT_EQ(shape_of(op(R"("External id":5,"Input Dims":[[32, 64], [64, 8], []],"x":{"y":[1]})")),
            "32x64, 64x8");
  EXPECT_EQ(shape_of(op(R"("Input dims":[[8,3,224,224]])")), "8x3x224x224");
  EXPECT_EQ(shape_of(op(R"("Input Dims":[[],[],[]])")), "");
  EXPECT_EQ(shape_of(op(R"("Input type":["float","Scalar"])")), "");
  EXPECT_EQ(shape_of(op("")), "");
  EXPECT_EQ(shape_of(op(R"("grid":[4,2,1])")), "");
  EXPECT_EQ(shape_of(op(R"("Input Dims":[["s0",4]])")), "4");
  EXPECT_EQ(shape_of(launch(R"("grid":[],"block":[64,1,1])")), "");
  EXPECT_EQ(shape_of(R"({"args":{"grid":[2,1,1]},"ph":"X","cat":"cpu_op","name":"mm","pid":1,)"
                     R"("tid":1,"ts":0,"dur":1})"),
            "");
  EXPECT_EQ(shape_of(R"({"ph":"B","cat":"cpu_op","name":"mm","pid":1,"tid":1,"ts":0,)"
                     R"("args":{"Input Dims":[[2,3]]}},{"ph":"E","pid":1,"tid":1,"ts":1})"),
            "2x3");
}

TEST(ChromeForms, ShapesOfEventsThatNeedRepair) {
  const std::string rest =
      R"("ts":0,"dur":1,"args":{"note":"a\qb","grid":[32, 1, 1],"block":[64,1,1]})";
  EXPECT_EQ(shape_of(kernel("k", rest)), "grid 32x1x1, block 64x1x1");
  const std::string open = R"("ts":0,"dur":1,"args":{"grid":[32,1,1],"block":[64,1,1],})";
  EXPECT_EQ(shape_of(kernel("k", open)), "grid 32x1x1, block 64x1x1");
}

}  // namespace fathom::trace::chrome_forms_test
