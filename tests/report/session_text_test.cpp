#include "report/text/session_text.h"

#include <gtest/gtest.h>

#include "report/given_trace.h"

namespace fathom::report::session_text_test {

// A kernel for a quarter of a second, of which nothing else was recorded.
const trace::Trace& run_with_a_kernel() {
  static const trace::Trace trace = [] {
    trace::RunInfo run;
    run.begin_ns = 0;
    run.end_ns = 1'000'000'000;
    return trace_of({{"matmul", trace::SpanKind::kernel, 0, 250'000'000}}, run);
  }();
  return trace;
}

RunReport report_of(ProfileSession session) {
  static const explain::Analysis analysis(run_with_a_kernel(), "run.pftrace");
  RunReport report = make_report(analysis);
  report.session = std::move(session);
  return report;
}

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kMb = 1 << 20;

// A second, and what it went into.
ProfileSession second_of(std::int64_t gpu_ms, std::int64_t transfer_ms, std::int64_t overhead_ms,
                         std::int64_t cpu_ms) {
  ProfileSession session;
  session.total_ns = 1000 * kMs;
  session.set_parts({gpu_ms * kMs, transfer_ms * kMs, overhead_ms * kMs, cpu_ms * kMs});
  return session;
}

trace::Trace run_of(const char* command) {
  trace::Trace trace;
  trace.run.format = "Fathom run";
  trace.run.command = command;
  return trace;
}

TEST(SessionText, TellsTheStoryAndEveryPart) {
  ProfileSession session = second_of(250, 5, 145, 600);
  session.copies = 3;
  session.copied_bytes = 12 * kMb;
  KernelSummary& kernel = session.kernels.emplace_back();
  kernel.name = "matmul";
  kernel.calls = 10;
  kernel.total_ns = 250 * kMs;
  kernel.min_ns = 20 * kMs;
  kernel.max_ns = 30 * kMs;
  kernel.global_size = "512x512";
  kernel.local_size = "16x16";
  OperationFigures& scope = session.scopes["batch"];
  scope.calls = 2;
  scope.total_ns = 900 * kMs;
  scope.self_ns = 600 * kMs;
  scope.set_parts({250 * kMs, 5 * kMs, 145 * kMs, 500 * kMs});
  session.idle_gaps = {{400 * kMs, 300 * kMs, "prepare", 0.9}, {100 * kMs, kMs / 2, "", 0}};
  session.builds = {{"clBuildProgram", 3 * kMs, 120 * kMs}};
  session.total_build_ns = 120 * kMs;
  session.bottlenecks = {{"batch", 2, 600.0 * kMs, 0.7, 0.7, "cpu"}};
  session.peak_memory_bytes = 16 * kMb;
  session.allocated_memory_bytes = 4 * kMb;
  session.leaks = {{"cache", "clCreateBuffer", 3 * kMb, 1}, {"", "clSVMAlloc", kMb, 2}};
  EXPECT_EQ(session_text(report_of(session), run_of("./app"), 10, 100), R"(
  ./app · 1.00 s

  The GPU computed 25.0 % of 1.00 s; the largest loss is 75.0 % idle: 750.0 ms in which nothing was
  recorded on the host.

  gpu       █████████                              25.0 %   250.0 ms   10 kernels
  transfer  ▏                                       0.5 %     5.0 ms   3 copies, 12 MB
  overhead  █████▎                                 14.5 %   145.0 ms   program builds 120.0 ms
  cpu       █████████████████████▋                 60.0 %   600.0 ms

  kernel  calls     total     mean      min      max   global  local    share
  matmul     10  250.0 ms  25.0 ms  20.0 ms  30.0 ms  512x512  16x16  100.0 %

  scope  calls     total      self      mean       gpu  transfer  overhead       cpu
  batch      2  900.0 ms  600.0 ms  450.0 ms  250.0 ms    5.0 ms  145.0 ms  500.0 ms

  GPU idle during        at       for  of the run
  prepare          400.0 ms  300.0 ms      30.0 %

  program build       at      took  of the run
  clBuildProgram  3.0 ms  120.0 ms      12.0 %

  bottleneck  calls      self   share  cumulative  spent on
  batch           2  600.0 ms  70.0 %      70.0 %       cpu

  Memory: at most 16 MB on the device.
  4 MB in 3 blocks was still allocated at the end of the recording: clCreateBuffer in "cache" and 1 more place.

)");
}

TEST(SessionText, WhatIsUnknownOfAKernelIsNoShareOfZero) {
  ProfileSession session = second_of(250, 0, 0, 750);
  KernelSummary& known = session.kernels.emplace_back();
  known.name = "known";
  known.calls = 1;
  known.total_ns = 250.0 * kMs;
  KernelSummary& unknown = session.kernels.emplace_back();
  unknown.name = "unknown";
  unknown.calls = 1;
  const std::string text = session_text(report_of(session), run_of("./app"), 10, 100);
  EXPECT_NE(text.find("100.0 %\n  unknown"), std::string::npos) << text;
  const std::string row = text.substr(text.find("  unknown"));
  EXPECT_EQ(row.substr(0, row.find('\n')).find('%'), std::string::npos) << row;
}

TEST(SessionText, WithoutAnythingSaysWhyThatMayBe) {
  ProfileSession session;
  session.total_ns = 3 * kMs;
  const std::string text = session_text(report_of(session), run_of("true"), 10, 100);
  EXPECT_NE(text.find("true · 3.0 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("No GPU work and no scopes were recorded."), std::string::npos) << text;
  EXPECT_EQ(text.find("gpu  "), std::string::npos);
}

TEST(SessionText, OfSeveralRunsHasTheMedian) {
  std::vector<ProfileSession> sessions(3);
  for (std::size_t i = 0; i < 3; ++i) {
    sessions[i].trace_path = "run-" + std::to_string(i + 1);
    sessions[i].total_ns = static_cast<std::int64_t>((i * 2) % 3 + 1) * kMs;
  }
  EXPECT_EQ(sessions_text(sessions, 100), R"(
  3 runs, 1.0 ms to 3.0 ms each.

  run       time  gpu  transfer  overhead  cpu  device memory
  run-1   1.0 ms    –         –         –    –              –
  run-2   3.0 ms    –         –         –    –              –
  run-3   2.0 ms    –         –         –    –              –
  median  2.0 ms    –         –         –    –              –
)");
}

TEST(SessionJson, NestsItsFlameGraph) {
  ProfileSession session;
  EXPECT_NE(to_json(session).find(R"("flame_graph_data":null)"), std::string::npos);
  session.flame_graph_data = {{"all", 0, 0, 9 * kMs, kMs},
                              {"a", 0, 2, 6 * kMs, kMs},
                              {"b", 1, 1, 5 * kMs, 0},
                              {"c", 0, 1, 3 * kMs, 0}};
  const auto frame = [](const char* head, const std::string& children) {
    return "{" + std::string(head) + R"(,"children":[)" + children + "]}";
  };
  const std::string b = frame(R"("name":"b","calls":1,"value":5,"gpu_time_ms":0)", "");
  const std::string a = frame(R"("name":"a","calls":2,"value":6,"gpu_time_ms":1)", b);
  const std::string c = frame(R"("name":"c","calls":1,"value":3,"gpu_time_ms":0)", "");
  const std::string all = frame(R"("name":"all","calls":0,"value":9,"gpu_time_ms":1)", a + "," + c);
  EXPECT_NE(to_json(session).find(all), std::string::npos) << to_json(session);
}

}  // namespace fathom::report::session_text_test
