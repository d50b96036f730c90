#include <gtest/gtest.h>

#include "analyze/gpu_trace.h"
#include "base/format.h"
#include "report/hta_report.h"

namespace fathom::report::hta_text_test {

using analyze::GpuTrace;
using trace::SpanKind;

HtaReport report_of(const trace::Trace& trace, const std::string& source = "trace.json") {
  return make_hta_report(analyze::holistic(trace, source));
}

TEST(HtaText, LinesFitTheWidthAndNamesCannotMoveTheCursor) {
  GpuTrace made;
  made.launch(0, 10, "\x1b[2Jevil\n", 1000, 5000);
  made.launch(20, 10, std::string(2000, 'k'), 100'000, 5000);
  made.host(SpanKind::annotation, std::string(500, 'a'), 0, 100'000);
  const std::string text = to_text(report_of(made.take()), 10, 100);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(base::display_width(text.substr(at, end - at)), 100U) << text.substr(at, end - at);
    at = end + 1;
  }
}

// The last of the steps is left out of the tables, and not of the run.
TEST(HtaText, TheHeadlineIsOfTheWholeRun) {
  GpuTrace made;
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::int64_t at = i * 1'000'000;
    made.host(SpanKind::annotation, "ProfilerStep#" + std::to_string(i), at, 1'000'000);
    made.launch(at + 300'000, 1'000, "gemm", at + 400'000, 600'000);
  }
  const std::string text = to_text(report_of(made.take()), 10, 100);
  EXPECT_NE(text.find("The GPU computed 60.0 % of 2.0 ms; the largest loss is 40.0 % idle"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("2 steps · 2.0 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("leave out the last of 2 steps"), std::string::npos) << text;
}

TEST(HtaText, TopLimitsTheRowsAndSaysHowManyAreLeft) {
  const trace::Trace trace =
      GpuTrace().launch(0, 1, "a", 10, 5).launch(5, 1, "b", 20, 5).launch(9, 1, "c", 30, 5).take();
  EXPECT_NE(to_text(report_of(trace), 1, 100).find("… 2 more (--top 3)"), std::string::npos);
}

TEST(HtaText, GpusOfOneTraceAreRowsOfATable) {
  const trace::Trace trace = GpuTrace()
                                 .work("a", 0, 100, 7, SpanKind::kernel, -1, 0)
                                 .work("a", 0, 50, 7, SpanKind::kernel, -1, 1)
                                 .work("a", 90, 10, 7, SpanKind::kernel, -1, 1)
                                 .take();
  const std::string text = to_text(report_of(trace), 10, 100);
  EXPECT_NE(text.find("1 rank · 2 GPUs"), std::string::npos) << text;
  EXPECT_NE(
      text.find("The 2 GPUs computed 60.0–100.0 % of 100 ns; the largest loss is 0.0–40.0 % idle"),
      std::string::npos)
      << text;
}

TEST(HtaText, NothingToAnalyzeIsSaid) {
  EXPECT_NE(to_text(report_of(GpuTrace().take()), 10, 100).find("This trace has no GPU work."),
            std::string::npos);
}

}  // namespace fathom::report::hta_text_test
