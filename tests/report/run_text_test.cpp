#include <gtest/gtest.h>

#include "report/given_trace.h"
#include "report/run_report.h"

namespace fathom::report::run_text_test {

std::string text_of(const trace::Trace& trace, std::size_t top = 10) {
  const explain::Analysis analysis(trace, "run.pftrace");
  return to_text(make_report(analysis), trace, top, 100);
}

TEST(RunText, TellsTheStoryOfAGpuRun) {
  trace::RunInfo run;
  run.command = "python train.py";
  run.rank = 1;
  run.world_size = 2;
  run.devices = {{0, "Tesla V100-SXM2-32GB", 34'089'730'048, 80}};
  const trace::Trace trace =
      trace_of({{"ProfilerStep#1", trace::SpanKind::annotation, 0, 2'000'000},
                {"aten::mm", trace::SpanKind::cpu_op, 0, 500'000},
                {"sgemm", trace::SpanKind::kernel, 1'000'000, 600'000},
                {"Memcpy HtoD", trace::SpanKind::copy, 1'900'000, 100'000}},
               run);
  EXPECT_EQ(text_of(trace), R"(
  python train.py · Tesla V100-SXM2-32GB · rank 1 of 2 · 1 step · 2.0 ms

  The GPU computed 30.0 % of 2.0 ms; the largest loss is 65.0 % idle: 1.3 ms before work of which
  the trace does not say when it was launched.

  GPU time by class: GEMM 85.7 % · copy 14.3 %

  on the GPU   class  calls     total      mean       p50       p99   share
  sgemm         gemm      1  600.0 µs  600.0 µs  600.0 µs  600.0 µs  85.7 %
  Memcpy HtoD   copy      1  100.0 µs  100.0 µs  100.0 µs  100.0 µs  14.3 %

  0.0 % of the matrix work ran on tensor cores, going by kernel names.

  on the host    calls     total      self      mean       p50       p99   share
  ProfilerStep#      1    2.0 ms    1.5 ms    2.0 ms    2.0 ms    2.0 ms  75.0 %
  aten::mm           1  500.0 µs  500.0 µs  500.0 µs  500.0 µs  500.0 µs  25.0 %

  bottleneck         self   share  cumulative  spent on
  ProfilerStep#    1.5 ms  55.6 %      55.6 %       cpu
  sgemm          600.0 µs  22.2 %      77.8 %       gpu
  aten::mm       500.0 µs  18.5 %      96.3 %       cpu
  Memcpy HtoD    100.0 µs   3.7 %     100.0 %  transfer

  what to change                                               saves
  Stop aten::mm from holding up the GPU               roughly 10.0 %
  Use the tensor cores: FP32 kernels leave them idle  roughly 15.0 %
  how: fathom suggest run.pftrace

)");
}

TEST(RunText, SaysWhatIsNotThere) {
  EXPECT_NE(text_of(trace_of({})).find("No spans in this file."), std::string::npos);
  const std::string cpu_only = text_of(trace_of({{"work", trace::SpanKind::scope, 0, 10}}));
  EXPECT_NE(cpu_only.find("This trace has no GPU work: 1 span on 1 thread."), std::string::npos);
}

TEST(RunText, OfAProfileTheLargestPartOfAScopeIsWhatItSpentItsTimeOn) {
  trace::Trace trace = trace_of({{"train", trace::SpanKind::scope, 0, 10}});
  NamedFigures& figures = trace.operations.emplace_back();
  figures.operation = "train";
  figures.calls = 1;
  figures.gpu_ns = 7;
  figures.transfer_ns = 1;
  figures.overhead_ns = 0;
  figures.cpu_ns = 2;
  const std::string text = text_of(trace);
  EXPECT_NE(text.find("1 scope on 1 thread; GPU time is known per scope only (table below)."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("100.0 %     100.0 %       gpu"), std::string::npos) << text;
}

TEST(RunText, TopLimitsTheRowsAndSaysHowManyAreLeft) {
  const trace::Trace trace = trace_of({{"a", trace::SpanKind::scope, 0, 3},
                                       {"b", trace::SpanKind::scope, 10, 2},
                                       {"c", trace::SpanKind::scope, 20, 1}});
  EXPECT_NE(text_of(trace, 1).find("… 2 more (--top 3)"), std::string::npos);
}

TEST(RunText, NamesCannotMoveTheCursorAndLongOnesAreCut) {
  const std::string longest(2000, 'k');
  const trace::Trace trace = trace_of({{"\x1b[2Jevil\n", trace::SpanKind::scope, 0, 3},
                                       {longest.c_str(), trace::SpanKind::scope, 5, 3}});
  const std::string text = text_of(trace);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 110U);
    at = end + 1;
  }
}

}  // namespace fathom::report::run_text_test
