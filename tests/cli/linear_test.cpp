// Files that are made to take long take time in proportion to their size. Instructions are counted,
// by Valgrind, and no clock is looked at: where the program gets twice as much to read, what it
// does more must be about twice as much, and not four times. The whole program is counted, so that
// a loop nobody thought of counts as well; a counter in our own loops would not see it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>
#include <ostream>

#include "cli/run_program.h"
#include "perfetto/fields.h"

namespace fathom::cli::linear_test {

// How many instructions the program took, or `instead` of it; 0 where nobody can tell.
std::int64_t instructions(const std::vector<std::string>& words,
                          const std::vector<std::string>& instead = {}) {
  std::vector<std::string> under = {"valgrind", "--tool=cachegrind", "--cache-sim=no",
                                    "--cachegrind-out-file=/dev/null"};
  under.insert(under.end(), instead.begin(), instead.end());
  const Outcome outcome = run_program(words, {.under = under});
  const std::size_t at = outcome.err.rfind("I   refs:");  // "==123== I   refs:      1,234,567"
  if (at == std::string::npos || outcome.signal != 0 || outcome.status != 0) return 0;
  std::int64_t count = 0;
  for (std::size_t i = at + 9; i < outcome.err.size() && outcome.err[i] != '\n'; ++i) {
    if (outcome.err[i] >= '0' && outcome.err[i] <= '9') count = count * 10 + (outcome.err[i] - '0');
  }
  return count;
}

bool can_count() {
#if defined(FATHOM_ADDRESS_SANITIZER) || defined(FATHOM_THREAD_SANITIZER)
  return false;
#else
  static const bool can =
      std::system("valgrind --version >/dev/null 2>&1") == 0 && instructions({"--version"}) > 0;
  return can;
#endif
}

// What four times the file may take more than twice the file, where that takes 1 more than once: 2
// where work is linear, a little more where things are sorted, 4 where it is quadratic.
constexpr double kMostMore = 2.6;

using Make = std::function<std::string(int)>;  // a file of so many

std::string events(int count, const std::function<void(std::string&, int)>& add) {
  std::string text = "{\"traceEvents\":[\n";
  for (int i = 0; i < count; ++i) add(text, i);
  text += R"({"ph":"M","name":"x","pid":1})";
  return text + "\n]}";
}

void add_span(std::string& to, const char* category, const std::string& name, int pid, int tid,
              double ts, double dur, const std::string& args = "{}") {
  to += fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{}}},)"
      "\n",
      category, name, pid, tid, ts, dur, args);
}

void add_launch(std::string& to, int correlation, double at, double kernel_at, int device = 0) {
  add_span(to, "cuda_runtime", "cudaLaunchKernel", 9, 9, at, 0.5,
           fmt::format(R"({{"correlation":{}}})", correlation));
  add_span(to, "kernel", fmt::format("kernel_{}", device), device, 7, kernel_at, 0.9,
           fmt::format(R"({{"stream":7,"device":{},"correlation":{}}})", device, correlation));
}

std::string many_tracks(int n) {
  return events(n, [](std::string& to, int i) {
    to += fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":9,"tid":{},"args":{{"name":"thread {}"}}}},)", i,
        i);
    add_span(to, "cpu_op", fmt::format("op_{}", i % 7), 9, i, i * 10, 8);
  });
}

std::string many_devices(int n) {
  return events(n, [](std::string& to, int i) { add_launch(to, i + 1, i * 10, i * 10 + 2, i); });
}

std::string one_instant(int n) {
  return events(n, [n](std::string& to, int i) { add_launch(to, i + 1, 5, 10 + i + n); });
}

std::string one_correlation(int n) {
  return events(n, [](std::string& to, int i) { add_launch(to, 17, i * 2, i * 2 + 1); });
}

std::string correlation_zero(int n) {
  return events(n, [](std::string& to, int i) { add_launch(to, 0, i * 2, i * 2 + 1); });
}

std::string deep_annotations(int n) {
  return events(n, [n](std::string& to, int i) {
    add_span(to, "user_annotation", fmt::format("level {}", i), 9, 9, i, 2.0 * (n - i) + 1);
    add_launch(to, i + 1, i + 0.2, i + 5);
  });
}

std::string many_collectives(int n) {
  return events(n, [](std::string& to, int i) {
    for (const int device : {0, 1}) {
      add_span(to, "kernel", "ncclDevKernel_AllReduce", device, 7, i * 10, 8,
               fmt::format(R"({{"stream":7,"device":{},"Collective name":"allreduce",)"
                           R"("In msg nelems":{}}})",
                           device, i));
    }
  });
}

// Launches with their host operations, annotations and a copy now and then.
std::string training(int n) {
  return events(n, [](std::string& to, int i) {
    if (i % 10 == 0) {
      add_span(to, "user_annotation", fmt::format("ProfilerStep#{}", i / 10), 9, 9, i * 10, 99);
      add_span(to, "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, i * 10, 0.5,
               R"({"stream":7,"device":0,"bytes":4096})");
    }
    add_span(to, "cpu_op", fmt::format("aten::op_{}", i % 7), 9, 9, i * 10 + 0.5, 8,
             R"({"Input Dims":[[4,4]]})");
    add_launch(to, i + 1, i * 10 + 1, i * 10 + 3);
  });
}

void append_number(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

void append_field(std::string& to, int field, std::uint64_t value) {
  append_number(to, static_cast<std::uint64_t>(field) << 3);
  append_number(to, value);
}

void append_field(std::string& to, int field, const std::string& bytes) {
  append_number(to, static_cast<std::uint64_t>(field) << 3 | 2);
  append_number(to, bytes.size());
  to += bytes;
}

// A Perfetto trace whose slices, each with an argument, are in compressed packets, twenty to each.
std::string compressed_packets(int n) {
  namespace pf = perfetto;
  std::string trace;
  for (int i = 0; i < n; i += 20) {
    std::string packets;
    for (int k = i; k < i + 20; ++k) {
      for (const auto type : {pf::track_event::kSliceBegin, pf::track_event::kSliceEnd}) {
        std::string annotation;
        append_field(annotation, pf::debug_annotation::kName, "argument");
        append_field(annotation, pf::debug_annotation::kInt, static_cast<std::uint64_t>(k));
        std::string event;
        append_field(event, pf::track_event::kType, type);
        append_field(event, pf::track_event::kTrackUuid, 7);
        append_field(event, pf::track_event::kName, "slice");
        append_field(event, pf::track_event::kDebugAnnotations, annotation);
        std::string packet;
        append_field(packet, pf::packet::kTimestamp,
                     static_cast<std::uint64_t>(2 * k + (type == pf::track_event::kSliceEnd)));
        append_field(packet, pf::packet::kSequenceId, 1);
        append_field(packet, pf::packet::kTrackEvent, event);
        append_field(packets, pf::trace::kPacket, packet);
      }
    }
    std::string packed(compressBound(packets.size()), '\0');
    uLongf size = packed.size();
    compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(packets.data()), packets.size());
    packed.resize(size);
    std::string packet;
    append_field(packet, pf::packet::kCompressedPackets, packed);
    append_field(trace, pf::trace::kPacket, packet);
  }
  return trace;
}

void append_text(std::string& pickle, const std::string& text) {
  pickle += "X" + std::string(1, static_cast<char>(text.size())) + std::string(3, '\0') + text;
}

// A snapshot with so many annotations, all open at once.
std::string snapshot_annotations(int n) {
  std::string pickle("\x80\x02}(", 4);
  append_text(pickle, "segments");
  pickle += "]";
  append_text(pickle, "device_traces");
  pickle += "]";
  append_text(pickle, "external_annotations");
  pickle += "](";
  for (const char* stage : {"START", "END"}) {
    for (int i = 0; i < n; ++i) {
      pickle += "}(";
      append_text(pickle, "stage");
      append_text(pickle, stage);
      append_text(pickle, "name");
      append_text(pickle, fmt::format("step {}", i));
      append_text(pickle, "device");
      pickle += std::string("K\0", 2);
      append_text(pickle, "time_us");
      pickle += fmt::format("I{}\n", (stage[0] == 'S' ? 0 : n) + i);
      pickle += "u";
    }
  }
  return pickle + "eu.";
}

// Functions that are compiled again and again, each for a reason of its own.
std::string compile_log(int n) {
  std::string log;
  for (int i = 0; i < n; ++i) {
    const std::string of =
        fmt::format(R"("frame_id":{},"frame_compile_id":{},"attempt":0)", i / 4, i % 4);
    log += fmt::format(
        "V0721 16:11:45.671000 98102 torch/_dynamo/guards.py:3564] "
        R"({{"artifact":{{"name":"recompile_reasons","encoding":"json"}},{},"has_payload":"x"}})"
        "\n\t[\"{}/0: tensor 'x' size mismatch at index 0. expected 2, actual {}\"]\n",
        of, i / 4, i);
    log += fmt::format(
        "V0721 16:11:46.671000 98102 torch/_dynamo/utils.py:1045] "
        R"({{"compilation_metrics":{{"co_name":"f{}","co_filename":"/me/model.py","co_firstlineno":{},)"
        R"("dynamo_cumulative_compile_time_us":1000}},{}}})"
        "\n",
        i / 4, i / 4, of);
  }
  return log;
}

struct Case {
  const char* name;
  std::string (*make)(int);
  std::vector<const char*> commands;  // and what follows the file
  int n;
};

// What the test is called by; without it, by the bytes of its addresses.
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class Linear : public ::testing::TestWithParam<Case> {};

TEST_P(Linear, TwiceTheFileIsTwiceTheWork) {
  if (!can_count()) GTEST_SKIP() << "no valgrind to count instructions with";
  const Scratch scratch;
  const Case& given = GetParam();
  for (const char* command : given.commands) {
    std::int64_t counts[3] = {};
    for (int i = 0; i < 3; ++i) {
      const std::string file = scratch.write("hostile", given.make(given.n << i));
      std::vector<std::string> words = {command, file};
      if (words[0] == "convert") {
        words.insert(words.end(), {scratch.path("out.json"), "--force"});
      } else if (words[0] == "page") {
        words = {"report", file, "-o", scratch.path("page.html")};
      }
      counts[i] = instructions(words);
      ASSERT_GT(counts[i], 0) << command << ": " << run_program(words).err;
    }
    const auto more = static_cast<double>(counts[1] - counts[0]);
    const auto then_more = static_cast<double>(counts[2] - counts[1]);
    RecordProperty(command, fmt::format("{:.2f}", then_more / more));
    EXPECT_LT(then_more / more, kMostMore)
        << command << ": " << counts[0] << ", " << counts[1] << ", " << counts[2];
  }
}

// Scopes of profile() inside each other, in the library.
TEST(LinearRecording, ScopesCostTheSameHoweverDeepTheyAre) {
  if (!can_count()) GTEST_SKIP() << "no valgrind to count instructions with";
  std::int64_t counts[3] = {};
  for (int i = 0; i < 3; ++i) {
    counts[i] = instructions(
        {}, {FATHOM_BINARY_DIR "/bin/scoped_program", "depth", std::to_string(2000 << i)});
    ASSERT_GT(counts[i], 0);
  }
  const auto more = static_cast<double>(counts[1] - counts[0]);
  EXPECT_LT(static_cast<double>(counts[2] - counts[1]) / more, kMostMore)
      << counts[0] << ", " << counts[1] << ", " << counts[2];
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, Linear,
    ::testing::Values(Case{"ManyTracks", many_tracks, {"hta"}, 200},
                      Case{"ManyDevices", many_devices, {"hta"}, 200},
                      Case{"LaunchesAtOneInstant", one_instant, {"hta"}, 200},
                      Case{"OneCorrelation", one_correlation, {"hta"}, 200},
                      Case{"CorrelationZero", correlation_zero, {"hta"}, 200},
                      Case{"DeepAnnotations", deep_annotations, {"hta"}, 200},
                      Case{"Collectives", many_collectives, {"hta"}, 200},
                      Case{"SnapshotAnnotations", snapshot_annotations, {"memory"}, 500},
                      Case{"CompressedPackets", compressed_packets, {"convert"}, 200},
                      Case{"CompileLog", compile_log, {"compile"}, 200},
                      Case{"Training", training, {"report", "suggest", "flame", "page"}, 200}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace fathom::cli::linear_test
