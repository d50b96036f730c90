#include "trace/read/perfetto/perfetto.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "trace/perfetto_builder.h"
#include "trace/read/perfetto/args.h"

namespace fathom::trace::perfetto_sequence_test {

namespace pf = perfetto;
using protozero::pbf_writer;
using testing::PerfettoBuilder;
using testing::read;
using testing::spans_of;

// One sequence as the SDK and our recorder write it: state cleared, names interned, a default track
// and a clock that counts in steps.
PerfettoBuilder sequence_of_a_thread(std::uint32_t sequence, std::string_view name) {
  PerfettoBuilder builder;
  builder.packet([&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kStateCleared);
    packet.add_uint32(pf::packet::kPreviousPacketDropped, 1);
    PerfettoBuilder::add(packet, pf::packet::kClockSnapshot, [](pbf_writer& snapshot) {
      PerfettoBuilder::clock(snapshot, 64, 1'000'000, true);
      PerfettoBuilder::clock(snapshot, pf::kMonotonicRaw, 1'000'000);
    });
    PerfettoBuilder::add(packet, pf::packet::kDefaults, [](pbf_writer& defaults) {
      defaults.add_uint32(pf::defaults::kTimestampClockId, 64);
      PerfettoBuilder::add(defaults, pf::defaults::kTrackEvent, [](pbf_writer& event) {
        event.add_uint64(pf::track_event::kTrackUuid, 5);
      });
    });
    PerfettoBuilder::add(packet, pf::packet::kInternedData, [&](pbf_writer& data) {
      PerfettoBuilder::intern(data, pf::interned_data::kEventNames, 1, name);
      PerfettoBuilder::intern(data, pf::interned_data::kEventCategories, 1, "scope");
      PerfettoBuilder::intern(data, pf::interned_data::kDebugAnnotationNames, 1, "correlation");
      PerfettoBuilder::intern(data, pf::interned_data::kDebugAnnotationNames, 2, "model");
      PerfettoBuilder::intern(data, pf::interned_data::kDebugAnnotationStrings, 7, "resnet \"50\"");
    });
  });
  return builder;
}

void add_interned_begin(PerfettoBuilder& builder, std::uint32_t sequence, std::uint64_t step) {
  builder.packet([&](pbf_writer& packet) {
    packet.add_uint64(pf::packet::kTimestamp, step);
    packet.add_uint32(pf::packet::kSequenceId, sequence);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kNeedsState);
    PerfettoBuilder::add(packet, pf::packet::kTrackEvent, [](pbf_writer& event) {
      event.add_uint32(pf::track_event::kType, pf::track_event::kSliceBegin);
      event.add_uint64(pf::track_event::kNameIid, 1);
      event.add_uint64(pf::track_event::kCategoryIids, 1);
      PerfettoBuilder::add(event, pf::track_event::kDebugAnnotations, [](pbf_writer& annotation) {
        annotation.add_uint64(pf::debug_annotation::kNameIid, 1);
        annotation.add_uint64(pf::debug_annotation::kUint, 42);
      });
      PerfettoBuilder::add(event, pf::track_event::kDebugAnnotations, [](pbf_writer& annotation) {
        annotation.add_uint64(pf::debug_annotation::kNameIid, 2);
        annotation.add_uint64(pf::debug_annotation::kStringIid, 7);
      });
    });
  });
}

void add_plain_end(PerfettoBuilder& builder, std::uint32_t sequence, std::uint64_t step) {
  builder.event(sequence, step, [](pbf_writer& event) {
    event.add_uint32(pf::track_event::kType, pf::track_event::kSliceEnd);
  });
}

TEST(PerfettoSequence, ASequenceCarriesNamesTrackAndClock) {
  PerfettoBuilder builder = sequence_of_a_thread(9, "step");
  add_interned_begin(builder, 9, 5);
  add_plain_end(builder, 9, 100);
  add_interned_begin(builder, 9, 0);
  add_plain_end(builder, 9, 7);
  const Trace trace = read(builder.bytes());
  EXPECT_EQ(spans_of(trace), "step 1000005+100\nstep 1000105+7\n");
  EXPECT_EQ(trace.spans.kind[0], SpanKind::scope);
  EXPECT_EQ(trace.spans.correlation[0], 42);
  EXPECT_EQ(nlohmann::json::parse(trace.args(0)),
            nlohmann::json::parse(R"({"correlation": 42, "model": "resnet \"50\""})"));
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(PerfettoSequence, ArgumentsKeepTheNamesOfTheirTimeWhenStateIsCleared) {
  PerfettoBuilder builder = sequence_of_a_thread(9, "old");
  add_interned_begin(builder, 9, 5);
  add_plain_end(builder, 9, 1);
  builder.packet([](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 9);
    packet.add_bool(pf::packet::kIncrementalStateCleared, true);
    PerfettoBuilder::add(packet, pf::packet::kDefaults, [](pbf_writer& defaults) {
      defaults.add_uint32(pf::defaults::kTimestampClockId, 64);
      PerfettoBuilder::add(defaults, pf::defaults::kTrackEvent, [](pbf_writer& event) {
        event.add_uint64(pf::track_event::kTrackUuid, 5);
      });
    });
    PerfettoBuilder::add(packet, pf::packet::kInternedData, [](pbf_writer& data) {
      PerfettoBuilder::intern(data, pf::interned_data::kEventNames, 1, "new");
      PerfettoBuilder::intern(data, pf::interned_data::kDebugAnnotationNames, 1, "count");
    });
  });
  add_interned_begin(builder, 9, 5);
  add_plain_end(builder, 9, 1);
  const Trace trace = read(builder.bytes());
  EXPECT_EQ(spans_of(trace), "old 1000005+1\nnew 1000011+1\n");
  EXPECT_TRUE(nlohmann::json::parse(trace.args(0)).contains("model"));
  EXPECT_EQ(nlohmann::json::parse(trace.args(1))["count"], 42);
  EXPECT_EQ(trace.spans.correlation[1], kNoCorrelation);
}

TEST(PerfettoSequence, AfterLossPacketsThatNeedStateWaitUntilItIsClearedAgain) {
  PerfettoBuilder builder = sequence_of_a_thread(9, "kept");
  add_interned_begin(builder, 9, 5);
  add_plain_end(builder, 9, 1);
  builder.packet([](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 9);
    packet.add_uint32(pf::packet::kPreviousPacketDropped, 1);
  });
  add_interned_begin(builder, 9, 5);
  const Trace trace = read(builder.bytes());
  EXPECT_EQ(spans_of(trace), "kept 1000005+1\n");
  EXPECT_EQ(trace.warnings.count(WarningKind::lost_packets), 2U);  // the gap, and what needed it
}

TEST(PerfettoSequence, ClocksAreConvertedPieceByPiece) {
  PerfettoBuilder builder;
  const auto snapshot = [&](std::uint64_t monotonic, std::uint64_t boottime) {
    builder.packet([&](pbf_writer& packet) {
      PerfettoBuilder::add(packet, pf::packet::kClockSnapshot, [&](pbf_writer& clocks) {
        PerfettoBuilder::clock(clocks, pf::kMonotonic, monotonic);
        PerfettoBuilder::clock(clocks, pf::kBoottime, boottime);
        PerfettoBuilder::clock(clocks, pf::kRealtime, boottime + 1'000'000);
      });
    });
  };
  const auto instant = [&](std::uint64_t time) {
    builder.packet([&](pbf_writer& packet) {
      packet.add_uint64(pf::packet::kTimestamp, time);
      packet.add_uint32(pf::packet::kTimestampClockId, pf::kMonotonic);
      PerfettoBuilder::add(packet, pf::packet::kTrackEvent, [](pbf_writer& event) {
        event.add_uint32(pf::track_event::kType, pf::track_event::kInstant);
      });
    });
  };
  instant(50);  // before any snapshot: the first holds for it too
  snapshot(100, 1'100);
  instant(150);
  snapshot(200, 2'200);  // slept for 1 µs
  instant(250);
  const Trace trace = read(builder.bytes());
  ASSERT_EQ(trace.instants.size(), 3U);
  EXPECT_EQ(trace.instants[0].time_ns, 1'050);
  EXPECT_EQ(trace.instants[1].time_ns, 1'150);
  EXPECT_EQ(trace.instants[2].time_ns, 2'250);
  EXPECT_EQ(trace.run.base_time_ns, 1'000'000);
}

TEST(PerfettoSequence, AClockOfASequenceLeadsToTheTracesClockThroughAnother) {
  PerfettoBuilder builder;
  builder.packet([](pbf_writer& packet) {
    PerfettoBuilder::add(packet, pf::packet::kClockSnapshot, [](pbf_writer& clocks) {
      PerfettoBuilder::clock(clocks, pf::kMonotonicRaw, 1'000);
      PerfettoBuilder::clock(clocks, pf::kBoottime, 51'000);
    });
  });
  builder.packet([](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 3);
    PerfettoBuilder::add(packet, pf::packet::kClockSnapshot, [](pbf_writer& clocks) {
      PerfettoBuilder::clock(clocks, 70, 2, false, 1'000);  // counts microseconds
      PerfettoBuilder::clock(clocks, pf::kMonotonicRaw, 4'000);
    });
  });
  builder.packet([](pbf_writer& packet) {
    packet.add_uint64(pf::packet::kTimestamp, 5);
    packet.add_uint32(pf::packet::kTimestampClockId, 70);
    packet.add_uint32(pf::packet::kSequenceId, 3);
    PerfettoBuilder::add(packet, pf::packet::kTrackEvent, [](pbf_writer& event) {
      event.add_uint32(pf::track_event::kType, pf::track_event::kInstant);
    });
  });
  const Trace trace = read(builder.bytes());
  ASSERT_EQ(trace.instants.size(), 1U);
  EXPECT_EQ(trace.instants[0].time_ns, 57'000);  // 5 µs is 7,000 ns raw, 50,000 behind boot time
}

TEST(PerfettoSequence, CompressedPacketsAreUnpackedAndTheirArgumentsFound) {
  PerfettoBuilder inner = sequence_of_a_thread(9, "packed");
  add_interned_begin(inner, 9, 5);
  add_plain_end(inner, 9, 1);
  std::string packed(compressBound(inner.bytes().size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(inner.bytes().data()), inner.bytes().size());
  packed.resize(size);
  PerfettoBuilder builder;
  builder.begin(1, 1, "plain").end(1, 2).packet([&](pbf_writer& packet) {
    packet.add_message(pf::packet::kCompressedPackets, packed);
  });
  const Trace trace = read(builder.bytes());
  EXPECT_EQ(spans_of(trace), "plain 1+1\npacked 1000005+1\n");
  EXPECT_EQ(nlohmann::json::parse(trace.args(1))["correlation"], 42);
}

TEST(PerfettoSequence, CutAtAnyByteWhatCameBeforeIsThere) {
  PerfettoBuilder builder = sequence_of_a_thread(9, "step");
  std::vector<std::size_t> ends;
  for (int i = 0; i < 10; ++i) {
    add_interned_begin(builder, 9, 5);
    add_plain_end(builder, 9, 3);
    ends.push_back(builder.bytes().size());
  }
  const std::string whole = builder.bytes();
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const Trace trace = read(whole.substr(0, cut));
    std::size_t finished = 0;
    for (const SpanKind kind : trace.spans.kind) finished += kind == SpanKind::scope ? 1 : 0;
    const auto expected = std::upper_bound(ends.begin(), ends.end(), cut) - ends.begin();
    ASSERT_EQ(finished, static_cast<std::size_t>(expected)) << "cut at " << cut;
  }
}

// Packets that take turns are unpacked again and again, until it is too much: then somebody says
// so.
TEST(PerfettoSequence, CompressedPacketsThatMayNotBeUnpackedAgainAreSaid) {
  PerfettoBuilder inner;
  inner.begin(5, 10, "a").end(5, 20);
  std::string packed(compressBound(inner.bytes().size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(inner.bytes().data()), inner.bytes().size());
  packed.resize(size);
  std::string packet;
  pbf_writer(packet).add_message(pf::packet::kCompressedPackets, packed);
  UnpackedPackets packets(UnpackedPackets::Bytes{1});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(*packets.at(0, packet), inner.bytes());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  for (const std::uint64_t place : {1, 2}) EXPECT_EQ(*packets.at(place, packet), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "fathom: arguments in compressed packets are left out from here on: to unpack them "
            "takes many times the size of the file\n");
}

// A scope that another thread ended, as that thread tells of it: used where its own track does not.
TEST(PerfettoSequence, TheEndOfAScopeMayBeKnownToAnotherThread) {
  const auto ended = [](PerfettoBuilder& trace, std::uint64_t track, std::int64_t start_ns,
                        std::int64_t end_ns) {
    trace.packet([&](pbf_writer& packet) {
      PerfettoBuilder::add(packet, pf::packet::kFathomRun, [&](pbf_writer& run) {
        PerfettoBuilder::add(run, pf::fathom_run::kScopeEnd, [&](pbf_writer& end) {
          end.add_uint64(pf::fathom_scope_end::kTrack, track);
          end.add_string(pf::fathom_scope_end::kName, "handed over");
          end.add_int64(pf::fathom_scope_end::kStartNs, start_ns);
          end.add_int64(pf::fathom_scope_end::kEndNs, end_ns);
        });
      });
    });
  };
  constexpr std::int64_t kMs = 1'000'000;
  PerfettoBuilder trace;
  trace.begin(5, 10 * kMs, "handed over").begin(6, 10 * kMs, "handed over");
  ended(trace, 5, 10 * kMs - 300, 10 * kMs - 200);  // one before it, which its own track has closed
  ended(trace, 5, 10 * kMs + 7, 30 * kMs);
  ended(trace, 5, 10 * kMs + 900, 50 * kMs);
  ended(trace, 6, 18 * kMs, 30 * kMs);  // another one
  ended(trace, 7, INT64_MIN, INT64_MAX);
  trace.begin(8, 15 * kMs, "handed over").end(8, 20 * kMs);
  ended(trace, 8, 15 * kMs, 40 * kMs);  // has ended on its own track
  trace.begin(9, 90 * kMs, "later").end(9, 91 * kMs);
  const Trace read_back = read(trace.bytes());
  EXPECT_EQ(spans_of(read_back),
            "handed over 10000000+20000000\nhanded over 10000000+81000000\n"
            "handed over 15000000+5000000\nlater 90000000+1000000\n");
  EXPECT_NE(read_back.spans.kind[0], SpanKind::unfinished);
  EXPECT_EQ(read_back.spans.kind[1], SpanKind::unfinished);
}

}  // namespace fathom::trace::perfetto_sequence_test
