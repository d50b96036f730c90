#include "explain/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>

#include "advise/suggest.h"
#include "analyze/random_gpu_trace.h"
#include "report/memory_report.h"
#include "report/page/flame.h"
#include "report/page/summary.h"
#include "report/page/timeline.h"
#include "report/run_report.h"
#include "report/suggest_report.h"

namespace fathom::explain::analysis_test {

trace::Trace some_trace(const char* format = "") {
  std::mt19937 random(7);
  trace::Trace trace = trace::random_gpu_trace(random);
  while (trace.spans.size() < 20) trace = trace::random_gpu_trace(random);
  trace.run.format = format;
  return trace;
}

// All that `fathom report`, `fathom suggest` and `fathom memory` write of a trace.
void write_everything(const Analysis& analysis) {
  const report::RunReport report = report::make_report(analysis);
  EXPECT_NE(to_text(report, analysis.trace(), 10, 100), "");
  EXPECT_NE(to_json(report, analysis.trace()), "");
  EXPECT_NE(report::page_summary(analysis), "");
  EXPECT_EQ(report::page_timeline(analysis).size(), 3U);
  EXPECT_NE(report::page_flame(analysis.flame(), analyze::FlameWeight::cpu), "");
  EXPECT_NE(to_text(report::make_suggest_report(analysis, false, false), 10, 100), "");
  EXPECT_NE(to_json(report::make_memory_report(analysis), analysis.trace()), "");
}

TEST(Analysis, WorksNothingOutBeforeItIsAskedFor) {
  const trace::Trace trace = some_trace();
  const Analysis analysis(trace, "trace.json");
  EXPECT_TRUE(analysis.worked_out().empty());
  analysis.bottlenecks();
  EXPECT_EQ(analysis.worked_out(),
            (std::vector<std::string_view>{"bottlenecks", "operations", "gpu_work"}));
}

TEST(Analysis, WorksEachFactOutOnceForTextJsonAndPage) {
  for (const char* format : {"", "Fathom run"}) {
    const trace::Trace trace = some_trace(format);
    const Analysis analysis(trace, "trace.json");
    write_everything(analysis);
    write_everything(analysis);
    std::vector<std::string_view> facts = analysis.worked_out();
    std::ranges::sort(facts);
    EXPECT_EQ(facts, (std::vector<std::string_view>{"activity",
                                                    "bottlenecks",
                                                    "classes",
                                                    "critical_path",
                                                    "dependencies",
                                                    "efficiencies",
                                                    "efficiency",
                                                    "flame",
                                                    "gpu_work",
                                                    "hta",
                                                    "launching_operators",
                                                    "memory",
                                                    "operations",
                                                    "path_segments",
                                                    "run_shares",
                                                    "scope_shares",
                                                    "session",
                                                    "slices",
                                                    "steps",
                                                    "suggestions",
                                                    "wall",
                                                    "whole_machine"}))
        << format;
  }
}

TEST(Analysis, GivesThreadsThatAskAtOnceTheSameObjects) {
  const trace::Trace trace = some_trace("Fathom run");
  const Analysis analysis(trace, "trace.json");
  constexpr std::size_t kAsking = 8;
  std::vector<std::vector<const void*>> seen(kAsking);
  {
    std::vector<std::jthread> threads;
    for (std::vector<const void*>& mine : seen) {
      threads.emplace_back([&] {
        mine = {&analysis.hta({.all_steps = true}), &analysis.suggestions(),
                &analysis.suggestions(true),        &analysis.session(),
                &analysis.dependencies(),           &analysis.flame(),
                &analysis.critical_path(),          &analysis.timeline_stats(),
                &analysis.hta({.many_ranks = true})};
      });
    }
  }
  for (const auto& mine : seen) EXPECT_EQ(mine, seen.front());
  EXPECT_EQ(std::set<const void*>(seen[0].begin(), seen[0].end()).size(), seen[0].size());
  const std::vector<std::string_view> facts = analysis.worked_out();
  EXPECT_EQ(std::ranges::count(facts, "dependencies"), 1);
  EXPECT_EQ(std::ranges::count(facts, "hta"), 2);  // one per choice of options
}

TEST(Analysis, SaysWhatTheAnalysesSay) {
  const trace::Trace trace = some_trace();
  const Analysis analysis(trace, "rank3.json");
  const std::vector<analyze::RankFindings> expected =
      analyze::holistic(trace, "rank3.json", {.all_steps = true});
  const std::vector<analyze::RankFindings>& found = analysis.hta({.all_steps = true});
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].rank, 3);
    EXPECT_EQ(found[i].device, expected[i].device);
    EXPECT_EQ(found[i].critical_path->bound_by, expected[i].critical_path->bound_by);
    EXPECT_EQ(found[i].kernels.size(), expected[i].kernels.size());
  }
  EXPECT_EQ(analysis.suggestions(true).list.size(), advise::suggest(trace, true).list.size());
}

}  // namespace fathom::explain::analysis_test
