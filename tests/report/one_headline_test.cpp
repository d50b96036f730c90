// The text, the JSON and the page say the same of a run, first.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/given_trace.h"
#include "report/page/summary.h"
#include "report/run_report.h"

namespace fathom::report::one_headline_test {

using trace::SpanKind;

constexpr std::int64_t kMs = 1'000'000;

struct Headlines {
  std::string text;  // in one line
  std::string json;
  std::string page;
};

Headlines headlines_of(const trace::Trace& trace) {
  const explain::Analysis analysis(trace, "run.pftrace");
  const RunReport report = make_report(analysis);
  Headlines found;
  constexpr std::size_t kWide = 1000;
  const std::string text = to_text(report, trace, 10, kWide);
  const std::size_t begin = text.find("The GPU");
  if (begin != text.npos) found.text = text.substr(begin, text.find('\n', begin) - begin);
  const auto json = nlohmann::json::parse(to_json(report, trace)).at("headline");
  if (!json.is_null()) found.json = json.get<std::string>();
  found.page =
      nlohmann::json::parse(page_summary(analysis)).at("story").at("headline").get<std::string>();
  return found;
}

trace::RunInfo second(const char* format) {
  trace::RunInfo run;
  run.format = format;
  run.begin_ns = 0;
  run.end_ns = 1000 * kMs;
  return run;
}

TEST(OneHeadline, OfARunThatBuildsPrograms) {
  const Headlines said =
      headlines_of(trace_of({{"clBuildProgram", SpanKind::runtime_call, 0, 800 * kMs},
                             {"clEnqueueNDRangeKernel", SpanKind::runtime_call, 900 * kMs, kMs},
                             {"matmul", SpanKind::kernel, 902 * kMs, 50 * kMs}},
                            second("Fathom run")));
  EXPECT_EQ(said.text,
            "The GPU computed 5.0 % of 1.00 s; the largest loss is 95.0 % idle: 800.0 ms of the "
            "run went into building GPU programs.");
  EXPECT_EQ(said.json, said.text);
  EXPECT_EQ(said.page, said.text);
}

TEST(OneHeadline, OfAnotherToolsTrace) {
  const Headlines said =
      headlines_of(trace_of({{"cudaLaunchKernel", SpanKind::runtime_call, 0, kMs},
                             {"gemm", SpanKind::kernel, 2 * kMs, 50 * kMs},
                             {"gemm", SpanKind::kernel, 60 * kMs, 40 * kMs}}));
  EXPECT_TRUE(said.text.starts_with("The GPU computed 90.0 % of 100.0 ms")) << said.text;
  EXPECT_EQ(said.json, said.text);
  EXPECT_EQ(said.page, said.text);
}

TEST(OneHeadline, OfARuntimeThatRanNothing) {
  const Headlines said = headlines_of(
      trace_of({{"clBuildProgram", SpanKind::runtime_call, 0, 800 * kMs}}, second("Fathom run")));
  EXPECT_EQ(said.text,
            "The GPU runtime was called, but no GPU work was recorded. Building GPU programs took "
            "800.0 ms of 1.00 s.");
  EXPECT_EQ(said.page, said.text);
  EXPECT_EQ(said.json, "");  // there is no GPU to speak of
}

}  // namespace fathom::report::one_headline_test
