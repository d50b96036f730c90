// Files that are made to take long take time in proportion to their size. Instructions are counted,
// by Valgrind, and no clock is looked at: where the program gets twice as much to read, what it
// does more must be about twice as much, and not four times. The whole program is counted, so that
// a loop nobody thought of counts as well; a counter in our own loops would not see it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "cli/run_program.h"

namespace fathom::cli::linear_test {

// How many instructions the program took; 0 where nobody can tell.
std::int64_t instructions(const std::vector<std::string>& words) {
  const Outcome outcome =
      run_program(words, {.under = {"valgrind", "--tool=cachegrind", "--cache-sim=no",
                                    "--cachegrind-out-file=/dev/null"}});
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

struct Case {
  const char* name;
  std::string (*make)(int);
  std::vector<const char*> commands;
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
      counts[i] = instructions({command, file});
      ASSERT_GT(counts[i], 0) << command << ": " << run_program({command, file}).err;
    }
    const auto more = static_cast<double>(counts[1] - counts[0]);
    const auto then_more = static_cast<double>(counts[2] - counts[1]);
    RecordProperty(command, fmt::format("{:.2f}", then_more / more));
    // 2 where work is linear, a little more where things are sorted, 4 where it is quadratic.
    EXPECT_LT(then_more / more, 2.6)
        << command << ": " << counts[0] << ", " << counts[1] << ", " << counts[2];
  }
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
                      Case{"SnapshotAnnotations", snapshot_annotations, {"memory"}, 500}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace fathom::cli::linear_test
