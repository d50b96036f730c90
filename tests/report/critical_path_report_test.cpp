#include "report/critical_path_report.h"

#include <gtest/gtest.h>

namespace fathom::report::critical_path_report_test {

analyze::CriticalPath path() {
  analyze::CriticalPath path;
  path.end_ns = 1'000'000;
  path.bound_by = {600'000, 0, 0, 100'000, 0, 0, 300'000, 0, 0};
  path.operations = {{"gemm", analyze::Bound::compute, 600'000, 6},
                     {"enumerate(DataLoader)", analyze::Bound::data_loading, 300'000, 2},
                     {"", analyze::Bound::launch, 100'000, 9}};
  path.steps = {{"ProfilerStep#1", 0, 500'000, {400'000, 0, 0, 100'000, 0, 0, 0, 0, 0}},
                {"ProfilerStep#2", 500'000, 1'000'000, {200'000, 0, 0, 0, 0, 0, 300'000, 0, 0}}};
  return path;
}

TEST(CriticalPathText, SaysWhatBoundsTheRunAndItsSteps) {
  EXPECT_EQ(to_text(path(), 2, 100), R"(
  the critical path is bound by      time   share
  compute                        600.0 µs  60.0 %
  data loading                   300.0 µs  30.0 %
  launch                         100.0 µs  10.0 %

  longest on the critical path      bound by  times      time   share
  gemm                               compute      6  600.0 µs  60.0 %
  enumerate(DataLoader)         data loading      2  300.0 µs  30.0 %
  … 1 more (--top 3)

  step                time  compute  data loading  launch
  ProfilerStep#1  500.0 µs   80.0 %         0.0 %  20.0 %
  ProfilerStep#2  500.0 µs   40.0 %        60.0 %   0.0 %
)");
}

TEST(CriticalPathText, OfNothingIsNothing) {
  EXPECT_EQ(to_text(analyze::CriticalPath(), 5, 80), "");
}

TEST(CriticalPathJson, HasEveryBoundAndAllSteps) {
  std::string out;
  base::JsonWriter json(out);
  write_json(json, path(), 1);
  EXPECT_EQ(
      out,
      R"({"total_ns":1000000,"bound_by":{"compute_ns":600000,"communication_ns":0,"copy_ns":0,)"
      R"("launch_ns":100000,"runtime_ns":0,"sync_ns":0,"data_loading_ns":300000,"cpu_ns":0,)"
      R"("unknown_ns":0},"operations":[{"name":"gemm","bound":"compute","path_ns":600000,)"
      R"("segments":6}],"steps":[{"name":"ProfilerStep#1","start_ns":0,"total_ns":500000,)"
      R"("bound_by":{"compute_ns":400000,"communication_ns":0,"copy_ns":0,"launch_ns":100000,)"
      R"("runtime_ns":0,"sync_ns":0,"data_loading_ns":0,"cpu_ns":0,"unknown_ns":0}},)"
      R"({"name":"ProfilerStep#2","start_ns":500000,"total_ns":500000,"bound_by":)"
      R"({"compute_ns":200000,"communication_ns":0,"copy_ns":0,"launch_ns":0,"runtime_ns":0,)"
      R"("sync_ns":0,"data_loading_ns":300000,"cpu_ns":0,"unknown_ns":0}}]})");
}

}  // namespace fathom::report::critical_path_report_test
