#include "report/page/layout.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/given_trace.h"
#include "report/page/counters.h"
#include "report/page/timeline.h"

namespace fathom::report::page_layout_test {

using trace::SpanKind;
using trace::Trace;

// The names of each row of each track: "main | a b".
std::vector<std::string> shown(const Trace& trace, const PageLayout& layout) {
  std::vector<std::string> lines;
  for (const PageTrack& track : layout.tracks) {
    std::string line = track.lane == PageLane::annotations ? "annotations:" : "work:";
    for (const PageRow& row : track.rows) {
      if (&row != &track.rows.front()) line += " |";
      for (std::uint32_t i = 0; i < row.count; ++i) {
        line += " " + std::string(trace.name(layout.order[row.first + i]));
      }
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(PageLayout, AnnotationsStandInALaneOfTheirOwn) {
  const Trace trace = trace_of({{"step", SpanKind::annotation, 0, 100},
                                {"forward", SpanKind::annotation, 10, 40},
                                {"op", SpanKind::cpu_op, 12, 30},
                                {"launch", SpanKind::runtime_call, 14, 5},
                                {"kernel", SpanKind::kernel, 30, 40}});
  EXPECT_EQ(shown(trace, page_layout(trace)),
            (std::vector<std::string>{"work: kernel", "annotations: step | forward",
                                      "work: op | launch"}));
}

TEST(PageLayout, FramesAreTheFirstRowsThatOneSpanFills) {
  const Trace trace = trace_of({{"main", SpanKind::python, 0, 1000},
                                {"train", SpanKind::python, 1, 990},
                                {"epoch", SpanKind::python, 2, 980},
                                {"exit", SpanKind::python, 992, 5},
                                {"step", SpanKind::python, 2, 480},
                                {"step", SpanKind::python, 490, 480}});
  EXPECT_EQ(page_layout(trace).tracks.at(0).frames, 3U);
  const Trace one =
      trace_of({{"main", SpanKind::python, 0, 1000}, {"a", SpanKind::python, 0, 400}});
  EXPECT_EQ(page_layout(one).tracks.at(0).frames, 0U) << "a single one is no heap to fold";
}

// As Kineto writes "PyTorch Profiler (0)" on a row for itself.
TEST(PageLayout, ARowWithOneSpanForTheWholeRunIsQuiet) {
  const auto layout_with = [](std::vector<Given> spans) {
    trace::TracePart part;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      trace::SpanRow row;
      row.track = part.track(trace::TrackKind::thread, 1, spans[i].name == "work" ? 1 : 2);
      row.name = part.names.intern(spans[i].name);
      row.start_ns = spans[i].start;
      row.duration_ns = spans[i].duration;
      row.kind = spans[i].kind;
      part.spans.push_back(row);
    }
    std::vector<trace::TracePart> parts;
    parts.push_back(std::move(part));
    return page_layout(assemble(std::move(parts), {}));
  };
  const Given first = {"work", SpanKind::cpu_op, 0, 500};
  const Given second = {"work", SpanKind::cpu_op, 500, 500};
  const PageLayout one = layout_with({first, second, {"tracer", SpanKind::other, 0, 1000}});
  EXPECT_FALSE(one.tracks.at(0).is_quiet);
  EXPECT_TRUE(one.tracks.at(1).is_quiet);
  const PageLayout half = layout_with({first, second, {"loader", SpanKind::other, 0, 400}});
  EXPECT_FALSE(half.tracks.at(1).is_quiet);
}

TEST(PageLayout, LeavesOutTheShortestHostWorkAloneWhereThereIsTooMuch) {
  const Trace trace = trace_of({{"outer", SpanKind::cpu_op, 0, 100},
                                {"short", SpanKind::cpu_op, 5, 2},
                                {"inner", SpanKind::cpu_op, 10, 30},
                                {"deep", SpanKind::cpu_op, 12, 20},
                                {"tiny", SpanKind::kernel, 30, 1},
                                {"step", SpanKind::annotation, 40, 1}});
  const PageLayout layout = page_layout(trace, 4);
  EXPECT_EQ(shown(trace, layout),
            (std::vector<std::string>{"work: tiny", "annotations: step", "work: outer | inner"}));
  EXPECT_EQ(layout.least_host_ns, 21);
  EXPECT_EQ(std::count(layout.place.begin(), layout.place.end(), kNoPlace), 2);
  EXPECT_EQ(page_layout(trace).least_host_ns, 0);
}

TEST(PageTimeline, ReachesFromTheFirstToTheLastOfSpansCountersAndMemory) {
  Trace trace = trace_of({{"op", SpanKind::cpu_op, 100, 50}});
  trace.memory.emplace_back().time_ns = 40;
  trace.counters.push_back({0, 0, {120, 400}, {1, 2}});
  const PageExtent extent = page_extent(trace);
  EXPECT_EQ(extent.begin_ns, 40);
  EXPECT_EQ(extent.length_ns(), 360);
  EXPECT_EQ(page_extent(Trace()).length_ns(), 0);
}

TEST(PageCounters, PointsThatStandTogetherKeepTheirLeastMeanAndMost) {
  Trace trace;
  trace::Counter counter;
  counter.name = trace.names.intern("load");
  for (std::int64_t i = 0; i < 40'000; ++i) {  // low for one ns in twenty
    counter.time_ns.push_back(i * 10 + (i % 2 == 1 ? 9 : 0));
    counter.value.push_back(i % 2 == 1 ? 0 : 100);
  }
  trace.counters.push_back(counter);
  std::string text;
  base::JsonWriter json(text);
  write_counters(json, trace, {}, 0);
  const nlohmann::json written = nlohmann::json::parse(text).at(0);
  ASSERT_EQ(written["values"].size(), 4000U);
  for (std::size_t i = 0; i + 1 < 4000; ++i) {
    EXPECT_EQ(written["low"][i], 0);
    EXPECT_EQ(written["high"][i], 100);
    EXPECT_NEAR(written["values"][i].get<double>(), 95, 0.1);
  }
}

}  // namespace fathom::report::page_layout_test
