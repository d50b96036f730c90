#include "compare/call_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/trace_maker.h"

namespace fathom::compare::call_sites_test {

using analyze::TraceMaker;
using ::testing::ElementsAre;

const SitesOfOperation& operation(const std::vector<SitesOfOperation>& all,
                                  const std::string& name) {
  for (const SitesOfOperation& one : all) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no operation " << name;
  return all.front();
}

TEST(CallSites, GpuWorkHasThePathOfItsLaunch) {
  TraceMaker maker;
  maker.op("forward", 0, 100).op("aten::mm", 10, 50).call("cudaLaunchKernel", 20, 5, 1);
  maker.op("aten::add", 70, 20).call("cudaLaunchKernel", 75, 5, 2);
  maker.gpu("gemm", 30, 40, 1).gpu("gemm", 80, 10, 2).gpu("gemm", 95, 1);
  const std::vector<SitesOfOperation> all = call_sites(maker.make());
  const SitesOfOperation& gemm = operation(all, "gemm");
  ASSERT_EQ(gemm.sites.size(), 3U);
  EXPECT_EQ(*gemm.sites[0].path, "forward › aten::mm");
  EXPECT_THAT(gemm.sites[0].ns, ElementsAre(40));
  EXPECT_EQ(*gemm.sites[1].path, "forward › aten::add");
  EXPECT_EQ(*gemm.sites[2].path, "");  // whose launch is unknown
  EXPECT_EQ(gemm.launched_by, "aten::mm");
}

TEST(CallSites, FunctionsOfPythonAndStepsAreNoPartOfAPath) {
  TraceMaker maker;
  maker.step("ProfilerStep#1", 0, 100);
  maker.op("train.py(7): loop", 5, 80, 1, trace::SpanKind::python).op("aten::mm", 10, 10);
  const std::vector<SitesOfOperation> all = call_sites(maker.make());
  EXPECT_EQ(*operation(all, "aten::mm").sites.front().path, "");
}

TEST(CallSites, OneShapeIsOneSite) {
  TraceMaker maker;
  maker.op("aten::mm", 0, 10).shaped("2x2").op("aten::mm", 20, 30).shaped("8x8");
  maker.op("aten::mm", 60, 12).shaped("2x2");
  const std::vector<SitesOfOperation> all = call_sites(maker.make());
  const SitesOfOperation& mm = operation(all, "aten::mm");
  ASSERT_EQ(mm.sites.size(), 2U);
  EXPECT_EQ(mm.sites[0].shape, "2x2");
  EXPECT_THAT(mm.sites[0].ns, ElementsAre(10, 12));
  EXPECT_EQ(mm.sites[0].total_ns, 22);
  EXPECT_EQ(mm.sites[1].shape, "8x8");
}

TEST(CallSites, WorkBelongsToTheStepThatLaunchedIt) {
  TraceMaker maker;
  maker.step("ProfilerStep#1", 0, 100).call("cudaLaunchKernel", 90, 5, 1);
  maker.step("ProfilerStep#2", 100, 100).call("cudaLaunchKernel", 110, 5, 2);
  maker.gpu("gemm", 105, 10, 1).gpu("gemm", 120, 10, 2);
  const std::vector<SitesOfOperation> all = call_sites(maker.make());
  const CallSite& site = operation(all, "gemm").sites.front();
  ASSERT_EQ(site.steps.size(), 2U);
  EXPECT_EQ(site.steps[0].step, 0U);
  EXPECT_EQ(site.steps[0].first, 0U);
  EXPECT_EQ(site.steps[1].step, 1U);
  EXPECT_EQ(site.steps[1].first, 1U);
}

TEST(CallSites, SelfTimesOfAllSitesAreThoseOfTheTrace) {
  TraceMaker maker;
  maker.op("outer", 0, 100).op("inner", 10, 30).op("inner", 50, 20);
  const std::vector<SitesOfOperation> all = call_sites(maker.make());
  EXPECT_EQ(operation(all, "outer").sites.front().self_ns, 50);
  EXPECT_EQ(operation(all, "inner").sites.front().self_ns, 50);
}

TEST(CallSites, ARecursionIsFollowedToADepth) {
  TraceMaker maker;
  constexpr int kDeep = 3000;
  for (int i = 0; i < kDeep; ++i) maker.op("again", i, 2 * kDeep - 2 * i);
  const std::vector<SitesOfOperation> all = call_sites(maker.make());
  const SitesOfOperation& again = operation(all, "again");
  std::size_t calls = 0;
  std::size_t longest = 0;
  for (const CallSite& site : again.sites) {
    calls += site.ns.size();
    longest = std::max(longest, site.path->size());
  }
  EXPECT_EQ(calls, std::size_t{kDeep});
  EXPECT_LT(longest, 500U);
}

TEST(CallSites, APathOfTooManyIsUnknownAndItsCallsAreCounted) {
  TraceMaker maker;
  constexpr int kMany = 70'000;
  for (int i = 0; i < kMany; ++i) {
    maker.op("caller " + std::to_string(i), 10 * i, 8).op("mm", 10 * i + 1, 5);
  }
  const std::vector<SitesOfOperation> all = call_sites(maker.make());
  std::size_t known = 0;
  std::size_t unknown = 0;
  for (const CallSite& site : operation(all, "mm").sites) {
    if (site.path == nullptr) {
      unknown += site.ns.size();
    } else {
      EXPECT_FALSE(site.path->empty());
      known += site.ns.size();
    }
  }
  EXPECT_EQ(known + unknown, std::size_t{kMany});
  EXPECT_GT(known, 1000U);
  EXPECT_GT(unknown, 1000U);
}

}  // namespace fathom::compare::call_sites_test
