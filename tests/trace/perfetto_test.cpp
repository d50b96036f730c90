#include "trace/read/perfetto/perfetto.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "trace/perfetto_builder.h"

namespace fathom::trace::perfetto_test {

namespace pf = perfetto;
using protozero::pbf_writer;
using testing::PerfettoBuilder;
using testing::read;
using testing::spans_of;

TEST(Perfetto, SlicesOfAThreadNest) {
  const Trace trace = read(PerfettoBuilder()
                               .thread(5, 100, 101, "worker")
                               .begin(5, 10, "outer")
                               .begin(5, 20, "inner")
                               .end(5, 30)
                               .end(5, 50)
                               .bytes());
  EXPECT_EQ(spans_of(trace), "outer 10+40\ninner 20+10\n");
  EXPECT_EQ(trace.spans.parent[1], 0U);
  ASSERT_EQ(trace.tracks.size(), 1U);
  EXPECT_EQ(trace.tracks[0].kind, TrackKind::thread);
  EXPECT_EQ(trace.tracks[0].pid, 100);
  EXPECT_EQ(trace.tracks[0].tid, 101);
  EXPECT_EQ(trace.tracks[0].thread_name, "worker");
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(Perfetto, ATrackMayBeDescribedAfterItsEvents) {
  const Trace trace =
      read(PerfettoBuilder().begin(5, 10, "a").end(5, 20).thread(5, 100, 101, "late").bytes());
  ASSERT_EQ(trace.tracks.size(), 1U);
  EXPECT_EQ(trace.tracks[0].thread_name, "late");
}

TEST(Perfetto, EventsOutOfTheOrderOfTimeAreMatchedByTime) {
  const Trace trace = read(
      PerfettoBuilder().begin(5, 0, "first").begin(5, 20, "second").end(5, 10).end(5, 30).bytes());
  EXPECT_EQ(spans_of(trace), "first 0+10\nsecond 20+10\n");
}

TEST(Perfetto, WhatNeverEndsReachesTheEndOfTheTrace) {
  const Trace trace =
      read(PerfettoBuilder().begin(5, 10, "open").begin(6, 40, "a").end(6, 70).end(7, 80).bytes());
  EXPECT_EQ(spans_of(trace), "open 10+70\na 40+30\n");
  EXPECT_EQ(trace.spans.kind[0], SpanKind::unfinished);
  EXPECT_EQ(trace.warnings.count(WarningKind::unmatched_begin), 1U);
  EXPECT_EQ(trace.warnings.count(WarningKind::unmatched_end), 1U);
}

TEST(Perfetto, CountersMayCountInStepsAndUnits) {
  PerfettoBuilder builder;
  builder.thread(5, 100, 101, "main").packet([](pbf_writer& packet) {
    PerfettoBuilder::add(packet, pf::packet::kTrackDescriptor, [](pbf_writer& track) {
      track.add_uint64(pf::track_descriptor::kUuid, 8);
      track.add_uint64(pf::track_descriptor::kParentUuid, 5);
      track.add_string(pf::track_descriptor::kName, "memory");
      PerfettoBuilder::add(track, pf::track_descriptor::kCounter, [](pbf_writer& counter) {
        counter.add_int64(pf::counter::kUnitMultiplier, 1024);
        counter.add_bool(pf::counter::kIsIncremental, true);
      });
    });
  });
  for (const std::int64_t step : {5, -2}) {
    builder.event(1, 10, [&](pbf_writer& event) {
      event.add_uint32(pf::track_event::kType, pf::track_event::kCounter);
      event.add_uint64(pf::track_event::kTrackUuid, 8);
      event.add_int64(pf::track_event::kCounterValue, step);
    });
  }
  const Trace trace = read(builder.bytes());
  ASSERT_EQ(trace.counters.size(), 1U);
  EXPECT_EQ(trace.names.view(trace.counters[0].name), "memory");
  EXPECT_EQ(trace.counters[0].value, (std::vector<double>{5 * 1024, 3 * 1024}));
  EXPECT_EQ(trace.tracks[trace.counters[0].track].tid, 101);
}

TEST(Perfetto, FlowsBeginAtTheFirstEventAndEndAtTheLast) {
  PerfettoBuilder builder;
  for (const std::uint64_t time : {30, 10, 20}) {
    builder.event(1, time, [](pbf_writer& event) {
      event.add_uint32(pf::track_event::kType, pf::track_event::kInstant);
      event.add_fixed64(pf::track_event::kFlowIds, 77);
    });
  }
  const Trace trace = read(builder.bytes());
  ASSERT_EQ(trace.flows.size(), 3U);
  EXPECT_EQ(trace.flows[0].phase, FlowPhase::begin);
  EXPECT_EQ(trace.flows[0].time_ns, 10);
  EXPECT_EQ(trace.flows[1].phase, FlowPhase::step);
  EXPECT_EQ(trace.flows[2].phase, FlowPhase::end);
  EXPECT_EQ(trace.flows[2].id, 77U);
}

TEST(Perfetto, LegacyEventsOfTheJsonFormatAreRead) {
  PerfettoBuilder builder;
  builder.packet([](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 2);
    PerfettoBuilder::add(packet, pf::packet::kThreadDescriptor, [](pbf_writer& thread) {
      thread.add_int32(pf::thread::kPid, 7);
      thread.add_int32(pf::thread::kTid, 8);
      thread.add_int64(pf::thread::kReferenceTimestampUs, 1'000);
    });
  });
  const auto legacy = [&](char phase, std::int64_t delta_us, std::string_view name,
                          std::int64_t duration_us) {
    builder.packet([&](pbf_writer& packet) {
      packet.add_uint32(pf::packet::kSequenceId, 2);
      PerfettoBuilder::add(packet, pf::packet::kTrackEvent, [&](pbf_writer& event) {
        event.add_int64(pf::track_event::kTimestampDeltaUs, delta_us);
        event.add_string(pf::track_event::kName, std::string(name));
        PerfettoBuilder::add(event, pf::track_event::kLegacyEvent, [&](pbf_writer& fields) {
          fields.add_int32(pf::legacy_event::kPhase, phase);
          fields.add_uint64(pf::legacy_event::kUnscopedId, 5);
          if (duration_us != 0) fields.add_int64(pf::legacy_event::kDurationUs, duration_us);
        });
      });
    });
  };
  legacy('B', 1, "begin and end", 0);
  legacy('X', 1, "complete", 3);
  legacy('E', 8, "", 0);
  legacy('b', 0, "async", 0);
  legacy('e', 5, "async", 0);
  legacy('s', 0, "arrow", 0);
  legacy('i', 0, "instant", 0);
  const Trace trace = read(builder.bytes());
  EXPECT_EQ(spans_of(trace),
            "begin and end 1001000+9000\ncomplete 1002000+3000\nasync 1010000+5000\n");
  ASSERT_EQ(trace.tracks.size(), 2U);
  EXPECT_EQ(trace.tracks[0].pid, 7);
  EXPECT_EQ(trace.tracks[0].tid, 8);
  EXPECT_EQ(trace.tracks[1].kind, TrackKind::async);
  EXPECT_EQ(trace.flows.size(), 1U);
  EXPECT_EQ(trace.instants.size(), 1U);
}

TEST(Perfetto, NestedAnnotationsBecomeJson) {
  PerfettoBuilder builder;
  builder.event(1, 10, [](pbf_writer& event) {
    event.add_uint32(pf::track_event::kType, pf::track_event::kInstant);
    const auto annotate = [&](const std::string& name, const testing::Fill& fill) {
      PerfettoBuilder::add(event, pf::track_event::kDebugAnnotations, [&](pbf_writer& annotation) {
        annotation.add_string(pf::debug_annotation::kName, name);
        fill(annotation);
      });
    };
    annotate("list", [](pbf_writer& list) {
      for (const std::int64_t value : {1, -2}) {
        PerfettoBuilder::add(list, pf::debug_annotation::kArrayValues, [&](pbf_writer& item) {
          item.add_int64(pf::debug_annotation::kInt, value);
        });
      }
    });
    annotate("dict", [](pbf_writer& dict) {
      PerfettoBuilder::add(dict, pf::debug_annotation::kDictEntries, [](pbf_writer& item) {
        item.add_string(pf::debug_annotation::kName, "ok");
        item.add_bool(pf::debug_annotation::kBool, true);
      });
    });
    annotate("json", [](pbf_writer& item) {
      item.add_string(pf::debug_annotation::kLegacyJson, "{\"a\":[1.50,null]}");
    });
    annotate("not json", [](pbf_writer& item) {
      item.add_string(pf::debug_annotation::kLegacyJson, "{\"a\":");
    });
    annotate("half", [](pbf_writer& item) { item.add_double(pf::debug_annotation::kDouble, 0.5); });
  });
  const Trace trace = read(builder.bytes());
  ASSERT_EQ(trace.instants.size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(trace.args_at(trace.instants[0].source)),
            nlohmann::json::parse(R"({"list":[1,-2],"dict":{"ok":true},"json":{"a":[1.5,null]},
                                      "not json":"{\"a\":","half":0.5})"));
}

TEST(Perfetto, DamageInTheMiddleIsSkipped) {
  PerfettoBuilder before;
  before.begin(5, 10, "before").end(5, 20);
  PerfettoBuilder after;
  for (std::uint64_t i = 0; i < 4; ++i) after.begin(5, 30 + 10 * i, "after").end(5, 35 + 10 * i);
  const Trace trace = read(before.bytes() + std::string(57, '\xFF') + after.bytes());
  EXPECT_EQ(trace.spans.size(), 5U);
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_event), 1U);
}

}  // namespace fathom::trace::perfetto_test
