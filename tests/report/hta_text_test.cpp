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

TEST(HtaText, SaysHowMuchOfTheIdleTimeHasItsMainCause) {
  const auto sentence = [](std::int64_t late_by) {
    const trace::Trace trace = GpuTrace()
                                   .launch(0, 1, "a", 10, 1'000'000)
                                   .launch(5, 1, "b", 1'100'010, 1'000'000)
                                   .launch(2'150'000, 1, "c", 2'100'010 + late_by, 1'000'000)
                                   .take();
    return to_text(report_of(trace), 10, 200);
  };
  EXPECT_NE(sentence(900'000).find("Nearly all of the idle time was spent waiting for the host."),
            std::string::npos);
  EXPECT_NE(sentence(200'000).find("Most of the idle time was spent waiting for the host."),
            std::string::npos);
  EXPECT_NE(sentence(60'000).find("is in long gaps before work that was already launched."),
            std::string::npos);
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
  EXPECT_NE(text.find("busy 80.0 % on average, from 60.0 % (GPU 1) to 100.0 % (GPU 0)"),
            std::string::npos)
      << text;
}

TEST(HtaText, NothingToAnalyzeIsSaid) {
  EXPECT_NE(to_text(report_of(GpuTrace().take()), 10, 100).find("This trace has no GPU work."),
            std::string::npos);
}

}  // namespace fathom::report::hta_text_test
