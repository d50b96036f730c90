#include "profiler/packets.h"

#include <time.h>

#include <protozero/pbf_writer.hpp>

#include "perfetto/operation_packet.h"

namespace fathom::detail {
namespace {

namespace pf = perfetto;
using protozero::pbf_writer;

void add_clock(pbf_writer& snapshot, std::uint32_t clock, std::int64_t ns, bool incremental) {
  pbf_writer entry(snapshot, pf::clock_snapshot::kClocks);
  entry.add_uint32(pf::clock::kClockId, clock);
  entry.add_uint64(pf::clock::kTimestamp, static_cast<std::uint64_t>(ns));
  if (incremental) entry.add_bool(pf::clock::kIsIncremental, true);
}

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The machine's clocks side by side, for readers that want ours in terms of another. Ours is the
// one that nobody steers: spans keep their length, and those of several processes line up exactly.
void append_clocks(std::string& out) {
  append_packet(out, [](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 1);
    pbf_writer snapshot(packet, pf::packet::kClockSnapshot);
    add_clock(snapshot, pf::kBoottime, read_clock(CLOCK_BOOTTIME), false);
    add_clock(snapshot, pf::kMonotonicRaw, read_clock(CLOCK_MONOTONIC_RAW), false);
    add_clock(snapshot, pf::kMonotonic, read_clock(CLOCK_MONOTONIC), false);
    add_clock(snapshot, pf::kRealtime, read_clock(CLOCK_REALTIME), false);
    snapshot.add_uint32(pf::clock_snapshot::kPrimaryTraceClock, pf::kMonotonicRaw);
  });
}

}  // namespace

std::uint64_t track_number(std::int64_t pid, std::int64_t start_ns, std::uint64_t number) {
  std::uint64_t mixed = static_cast<std::uint64_t>(start_ns) * 0x9E3779B97F4A7C15 + number;
  mixed = (mixed ^ static_cast<std::uint64_t>(pid)) * 0xBF58476D1CE4E5B9;
  return (mixed ^ mixed >> 31) | 1;
}

void append_run_start(std::string& out, const RunStart& run) {
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 1);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kStateCleared);
    pbf_writer fathom(packet, pf::packet::kFathomRun);
    fathom.add_string(pf::fathom_run::kVersion, FATHOM_VERSION);
    fathom.add_string(pf::fathom_run::kCommand, run.command);
    fathom.add_string(pf::fathom_run::kHost, run.host);
    fathom.add_uint64(pf::fathom_run::kStartUnixNs, static_cast<std::uint64_t>(run.start_unix_ns));
    fathom.add_uint64(pf::fathom_run::kStartNs, static_cast<std::uint64_t>(run.start_ns));
  });
  append_clocks(out);
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 1);
    pbf_writer track(packet, pf::packet::kTrackDescriptor);
    track.add_uint64(pf::track_descriptor::kUuid, run.process_track);
    pbf_writer process(track, pf::track_descriptor::kProcess);
    process.add_int32(pf::process::kPid, static_cast<std::int32_t>(run.pid));
    process.add_string(pf::process::kCmdline, run.command);
    process.add_string(pf::process::kName, run.process_name);
  });
}

void append_run_end(std::string& out, std::span<const NamedFigures> operations,
                    std::uint64_t dropped_scopes, std::uint64_t dropped_activities) {
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, 1);
    pbf_writer run(packet, pf::packet::kFathomRun);
    run.add_uint64(pf::fathom_run::kDroppedScopes, dropped_scopes);
    run.add_uint64(pf::fathom_run::kDroppedActivities, dropped_activities);
    for (const NamedFigures& operation : operations) pf::add_operation(run, operation);
  });
}

void append_sequence_start(std::string& out, std::uint32_t sequence, std::uint64_t track,
                           std::int64_t start_ns) {
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kStateCleared);
    {
      pbf_writer defaults(packet, pf::packet::kDefaults);
      defaults.add_uint32(pf::defaults::kTimestampClockId, pf::kFirstSequenceClock);
      pbf_writer event(defaults, pf::defaults::kTrackEvent);
      event.add_uint64(pf::track_event::kTrackUuid, track);
    }
    pbf_writer snapshot(packet, pf::packet::kClockSnapshot);
    add_clock(snapshot, pf::kMonotonicRaw, start_ns, false);
    add_clock(snapshot, pf::kFirstSequenceClock, start_ns, true);
  });
}

void append_thread(std::string& out, std::uint32_t sequence, std::uint64_t track,
                   std::uint64_t process_track, std::int64_t pid, std::int64_t tid,
                   std::string_view name) {
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence);
    pbf_writer descriptor(packet, pf::packet::kTrackDescriptor);
    descriptor.add_uint64(pf::track_descriptor::kUuid, track);
    descriptor.add_uint64(pf::track_descriptor::kParentUuid, process_track);
    pbf_writer thread(descriptor, pf::track_descriptor::kThread);
    thread.add_int32(pf::thread::kPid, static_cast<std::int32_t>(pid));
    thread.add_int32(pf::thread::kTid, static_cast<std::int32_t>(tid));
    thread.add_string(pf::thread::kName, name.data(), name.size());
  });
}

}  // namespace fathom::detail
