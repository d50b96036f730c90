#include "record/launch/run_trace.h"

#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>

#include "perfetto/fields.h"

namespace fathom::record {
namespace {

namespace pf = perfetto;
using protozero::pbf_writer;

// Sequences and tracks of the recorded processes count from 1 and from hashes of their ids.
constexpr std::uint32_t kSequence = 0x0FA70;
constexpr std::uint64_t kMemoryTrack = 0x0FA7'0000'0000'0001;
constexpr std::uint64_t kPeakTrack = 0x0FA7'0000'0000'0002;

std::uint64_t unsigned_of(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

// The clock of everything here, and of the parts that follow.
void append_clock(pbf_writer& trace, const Ended& ended) {
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kSequence);
  pbf_writer snapshot(packet, pf::packet::kClockSnapshot);
  const auto add_clock = [&](std::uint32_t id, std::int64_t ns) {
    pbf_writer clock(snapshot, pf::clock_snapshot::kClocks);
    clock.add_uint32(pf::clock::kClockId, id);
    clock.add_uint64(pf::clock::kTimestamp, unsigned_of(ns));
  };
  add_clock(pf::kMonotonicRaw, ended.begin_ns);
  add_clock(pf::kRealtime, ended.begin_unix_ns);
  snapshot.add_uint32(pf::clock_snapshot::kPrimaryTraceClock, pf::kMonotonicRaw);
}

void append_run(pbf_writer& trace, const std::vector<std::string>& command, const Ended& ended) {
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kSequence);
  packet.add_uint32(pf::packet::kSequenceFlags, pf::kStateCleared);
  pbf_writer run(packet, pf::packet::kFathomRun);
  run.add_string(pf::fathom_run::kVersion, FATHOM_VERSION);
  run.add_string(pf::fathom_run::kCommand, fmt::format("{}", fmt::join(command, " ")));
  run.add_uint64(pf::fathom_run::kStartUnixNs, unsigned_of(ended.begin_unix_ns));
  run.add_uint64(pf::fathom_run::kStartNs, unsigned_of(ended.begin_ns));
  run.add_int64(pf::fathom_run::kBeginNs, ended.begin_ns);
  run.add_int64(pf::fathom_run::kEndNs, ended.end_ns);
  if (ended.signal != 0) {
    run.add_int32(pf::fathom_run::kSignal, ended.signal);
  } else {
    run.add_int32(pf::fathom_run::kExitStatus, ended.exit_status);
  }
  run.add_int64(pf::fathom_run::kCpuNs, ended.cpu_ns);
}

void append_memory_track(pbf_writer& trace, std::uint64_t uuid, const char* name) {
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kSequence);
  pbf_writer track(packet, pf::packet::kTrackDescriptor);
  track.add_uint64(pf::track_descriptor::kUuid, uuid);
  track.add_string(pf::track_descriptor::kName, name);
  pbf_writer counter(track, pf::track_descriptor::kCounter);
  counter.add_uint32(pf::counter::kUnit, pf::counter::kSizeBytes);
}

void append_sample(pbf_writer& trace, std::uint64_t track, const RssSample& sample) {
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kSequence);
  packet.add_uint64(pf::packet::kTimestamp, unsigned_of(sample.time_ns));
  packet.add_uint32(pf::packet::kTimestampClockId, pf::kMonotonicRaw);
  pbf_writer event(packet, pf::packet::kTrackEvent);
  event.add_uint32(pf::track_event::kType, pf::track_event::kCounter);
  event.add_uint64(pf::track_event::kTrackUuid, track);
  event.add_int64(pf::track_event::kCounterValue, sample.bytes);
}

}  // namespace

std::string run_trace(const std::vector<std::string>& command, const Launched& launched) {
  std::string bytes;
  pbf_writer trace(bytes);
  append_run(trace, command, launched.ended);
  append_clock(trace, launched.ended);
  append_memory_track(trace, kMemoryTrack, "host memory");
  for (const RssSample& sample : launched.rss) append_sample(trace, kMemoryTrack, sample);
  if (launched.kernel_peak_rss) {
    append_memory_track(trace, kPeakTrack, "peak host memory");
    append_sample(trace, kPeakTrack, {launched.ended.end_ns, *launched.kernel_peak_rss});
  }
  return bytes;
}

}  // namespace fathom::record
