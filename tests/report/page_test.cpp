#include "report/page/page.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "report/given_trace.h"
#include "report/page/summary.h"

namespace fathom::report::page_test {

using trace::SpanKind;

nlohmann::json summary_of(const trace::Trace& trace) {
  return nlohmann::json::parse(page_summary(explain::Analysis(trace, "run.json")));
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Page, LoadsNothingFromElsewhere) {
  const std::string_view page = page_template();
  EXPECT_NE(page.find("default-src 'none'"), std::string_view::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string_view::npos);
  EXPECT_EQ(page.find("href=\"http"), std::string_view::npos);
}

TEST(Page, CarriesItsDataPackedSoThatNothingInItIsHtml) {
  const std::string html = page_html({{"summary", "</script><script>alert(1)</script>"}});
  EXPECT_EQ(html.find("alert(1)"), std::string::npos);
  EXPECT_EQ(count(html, "data-name=\"summary\""),
            1 + count(page_template(), "data-name=\"summary\""));
}

TEST(Page, IsItsTemplateAndItsData) {
  EXPECT_LT(page_template().size(), 512U * 1024);  // every report carries it
  const std::string blob(1'000'000, 'x');
  EXPECT_LT(page_html({{"blob", blob}}).size(), page_template().size() + 5000);
}

TEST(PageSummary, PartsOfTheRingAddUp) {
  const nlohmann::json summary = summary_of(trace_of({{"sgemm", SpanKind::kernel, 0, 60},
                                                      {"ncclAllReduce", SpanKind::kernel, 50, 30},
                                                      {"Memcpy HtoD", SpanKind::copy, 90, 10}}));
  std::int64_t sum = 0;
  for (const auto& part : summary["ring"]["parts"]) sum += part["ns"].get<std::int64_t>();
  EXPECT_EQ(sum, summary["ring"]["total_ns"]);
  EXPECT_EQ(sum, 100);
  EXPECT_EQ(summary["ring"]["parts"][0]["ns"], 60);
  EXPECT_EQ(summary["ring"]["parts"][1]["ns"], 20);
}

TEST(PageSummary, ColoursSayWhatWorkIsFor) {
  const nlohmann::json summary =
      summary_of(trace_of({{"sgemm", SpanKind::kernel, 0, 60},
                           {"ncclAllReduce", SpanKind::kernel, 60, 30},
                           {"Memcpy HtoD", SpanKind::copy, 90, 10},
                           {"cudaLaunchKernel", SpanKind::runtime_call, 0, 5},
                           {"aten::mm", SpanKind::cpu_op, 10, 4}}));
  std::vector<std::string> parts;
  for (const auto& row : summary["operations"]) parts.push_back(row["part"]);
  EXPECT_EQ(parts, (std::vector<std::string>{"gpu", "comm", "transfer", "overhead", "cpu"}));
}

TEST(PageSummary, StepsAreSlicesWhereThereAreSeveral) {
  const nlohmann::json steps =
      summary_of(trace_of({{"ProfilerStep#3", SpanKind::annotation, 0, 100},
                           {"ProfilerStep#4", SpanKind::annotation, 100, 100},
                           {"sgemm", SpanKind::kernel, 90, 60}}));
  EXPECT_EQ(steps["slices"]["labels"], nlohmann::json({"step 3", "step 4"}));
  EXPECT_EQ(steps["slices"]["parts"][0]["part"], "gpu");
  EXPECT_EQ(steps["slices"]["parts"][0]["ns"], nlohmann::json({10, 50}));
  const nlohmann::json none = summary_of(trace_of({{"sgemm", SpanKind::kernel, 0, 6000}}));
  EXPECT_EQ(none["slices"]["labels"].size(), 48U);
}

TEST(PageSummary, SlicesGiveEachInstantToOneColour) {
  const nlohmann::json summary =
      summary_of(trace_of({{"ProfilerStep#3", SpanKind::annotation, 0, 100},
                           {"ProfilerStep#4", SpanKind::annotation, 100, 100},
                           {"sgemm", SpanKind::kernel, 0, 60},
                           {"ncclAllReduce", SpanKind::kernel, 50, 30},
                           {"Memset", SpanKind::fill, 70, 20},
                           {"cudaLaunchKernel", SpanKind::runtime_call, 80, 15}}));
  std::vector<std::pair<std::string, int>> first_step;
  for (const auto& part : summary["slices"]["parts"]) {
    first_step.emplace_back(part["part"], part["ns"][0].get<int>());
  }
  const std::vector<std::pair<std::string, int>> expected = {
      {"gpu", 60}, {"comm", 20}, {"transfer", 10}, {"overhead", 5}, {"cpu", 0}, {"idle", 5}};
  EXPECT_EQ(first_step, expected);
}

TEST(PageSummary, SlicesSayWhereTheyAreAndWhatIsTheCpus) {
  const nlohmann::json summary =
      summary_of(trace_of({{"ProfilerStep#3", SpanKind::annotation, 1000, 100},
                           {"ProfilerStep#4", SpanKind::annotation, 1100, 100},
                           {"sgemm", SpanKind::kernel, 1000, 60},
                           {"aten::mm", SpanKind::cpu_op, 1040, 30}}));
  const nlohmann::json& slices = summary["slices"];
  EXPECT_EQ(slices["windows"], nlohmann::json::parse("[[0, 100], [100, 200]]"));
  std::map<std::string, nlohmann::json> ns;
  for (const auto& part : slices["parts"]) {
    ns[part["label"]] = part["ns"];
  }
  EXPECT_EQ(ns["CPU"], nlohmann::json({10, 0}));
  EXPECT_EQ(ns["nothing recorded"], nlohmann::json({30, 100}));
}

// The timeline begins with the first thing that it draws, and a counter may be that.
TEST(PageSummary, SlicesAreWhereTheTimelineHasThem) {
  trace::Trace trace = trace_of({{"ProfilerStep#3", SpanKind::annotation, 1000, 100},
                                 {"ProfilerStep#4", SpanKind::annotation, 1100, 100},
                                 {"sgemm", SpanKind::kernel, 1000, 60}});
  trace::Counter counter;
  counter.time_ns = {400, 1200};
  counter.value = {1, 2};
  trace.counters.push_back(counter);
  EXPECT_EQ(summary_of(trace)["slices"]["windows"],
            nlohmann::json::parse("[[600, 700], [700, 800]]"));
}

TEST(PageSummary, HistogramsHoldEveryCall) {
  const nlohmann::json summary = summary_of(trace_of({{"sgemm", SpanKind::kernel, 0, 10},
                                                      {"sgemm", SpanKind::kernel, 20, 11},
                                                      {"sgemm", SpanKind::kernel, 40, 1000},
                                                      {"same", SpanKind::kernel, 2000, 5},
                                                      {"same", SpanKind::kernel, 3000, 5}}));
  const nlohmann::json& bins = summary["operations"][0]["histogram"];
  EXPECT_EQ(bins.front(), 2);
  EXPECT_EQ(bins.back(), 1);
  EXPECT_FALSE(summary["operations"][1].contains("histogram"));
}

TEST(PageSummary, WhatIsNotThereIsNullOrSaidSo) {
  const nlohmann::json nothing = summary_of(trace_of({}));
  EXPECT_EQ(nothing["story"]["headline"], "No spans in this file.");
  EXPECT_TRUE(nothing["ring"].is_null());
  EXPECT_TRUE(nothing["slices"].is_null());
  EXPECT_TRUE(nothing["memory"].is_null());
  EXPECT_TRUE(nothing["ranks"].empty());
  const nlohmann::json host = summary_of(trace_of({{"work", SpanKind::cpu_op, 0, 10}}));
  EXPECT_EQ(host["story"]["headline"], "This trace has no GPU work: 1 span on 1 thread.");
  EXPECT_TRUE(host["slices"].is_null()) << "all of one colour";
}

TEST(PageSummary, WhereThereIsMemoryAloneThatIsTheStory) {
  trace::Trace trace = trace_of({{"step", SpanKind::annotation, 0, 3'000'000}});
  trace::MemoryEvent event;
  event.time_ns = 1'000'000;
  event.bytes = 5 << 20;
  event.address = 4096;
  event.device = trace::MemoryDevice::gpu;
  event.device_index = 0;
  trace.memory.push_back(event);
  const nlohmann::json summary = summary_of(trace);
  EXPECT_EQ(summary["story"]["headline"],
            "GPU 0 memory peaked at 5 MB, 1.0 ms into the recording; all of it from step.");
  EXPECT_EQ(summary["story"]["detail"],
            "5 MB in 1 block was still allocated at the end of the recording: in \"step\".");
}

}  // namespace fathom::report::page_test
