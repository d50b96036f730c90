#include "trace/read/perfetto/reader.h"

#include <algorithm>
#include <string>
#include <thread>

#include "perfetto/fields.h"
#include "trace/read/chrome/category.h"
#include "trace/read/perfetto/args.h"
#include "trace/read/perfetto/message_fields.h"

// Packets: their sequences' state, and everything in them that is not an event.
namespace fathom::trace {
namespace pf = perfetto;
namespace {

constexpr unsigned kMaxThreads = 8;

}  // namespace

// Whether the packet can be understood: what it refers to was seen, and nothing was lost since.
bool PerfettoReader::follow_state(const PacketFields& packet, PacketPlace place) {
  if (packet.is_first_after_loss) {
    if (sequence_->was_seen) part_.warnings.add(WarningKind::lost_packets, byte_of(place));
    sequence_->state_is_valid = false;
  }
  if (packet.is_cleared) sequence_->clear_state(place);
  sequence_->was_seen = true;
  if (packet.needs_state && !sequence_->state_is_valid) {
    part_.warnings.add(WarningKind::lost_packets, byte_of(place));
    return false;
  }
  return true;
}

void PerfettoReader::read_one(std::string_view bytes, PacketPlace place) {
  const PacketFields packet = read_packet(bytes);
  if (packet.is_broken) {
    part_.warnings.add(WarningKind::bad_event, byte_of(place));
    return;
  }
  sequence_ = &sequence(packet.sequence);
  if (!follow_state(packet, place)) return;
  if (!packet.rest.empty()) read_rare(packet, place);
  if (!packet.track_event.empty()) read_track_event(packet, place);
}

void PerfettoReader::read_rare(const PacketFields& packet, PacketPlace place) {
  const RareFields rare = read_rare_fields(packet.rest);
  if (!rare.zlib_packets.empty()) read_unpacked(rare.zlib_packets, false, place);
  if (!rare.zstd_packets.empty()) read_unpacked(rare.zstd_packets, true, place);
  if (!rare.interned.empty()) read_interned(rare.interned);
  if (!rare.defaults.empty()) read_defaults(rare.defaults);
  if (!rare.clock_snapshot.empty()) read_clock_snapshot(rare.clock_snapshot);
  if (!rare.thread_descriptor.empty()) read_thread(rare.thread_descriptor);
  if (!rare.fathom_run.empty()) run_.read(rare.fathom_run);
  std::uint64_t uuid = 0;
  if (!rare.track_descriptor.empty()) {
    TrackDescriptor descriptor = read_track_descriptor(rare.track_descriptor, uuid);
    tracks_.describe(uuid, std::move(descriptor));
  }
  if (!rare.process_descriptor.empty()) {
    TrackDescriptor descriptor = read_process_descriptor(rare.process_descriptor);
    const std::uint64_t process = legacy_process_uuid(descriptor.pid.value_or(0));
    tracks_.describe(process, std::move(descriptor));
  }
}

void PerfettoReader::read_unpacked(std::string_view packed, bool is_zstd, PacketPlace place) {
  if (is_inside_packed_) return;  // packed twice is something nobody writes
  bool damaged = false;
  const std::string unpacked =
      is_zstd ? unpack_zstd(packed, damaged) : unpack_zlib(packed, damaged);
  if (damaged) part_.warnings.add(WarningKind::damaged_packing, byte_of(place));
  is_inside_packed_ = true;
  Sequence* const outer = sequence_;
  Warnings inner;
  for (PacketWalk walk(unpacked, inner); walk.next();) {
    read_one(walk.packet(), packet_place(byte_of(place), walk.byte()));
  }
  sequence_ = outer;
  is_inside_packed_ = false;
  // What damage cuts off inside was said already.
  if (!damaged && !inner.empty()) part_.warnings.add(WarningKind::bad_event, byte_of(place));
}

void PerfettoReader::read_interned(std::string_view message) {
  for (Fields f(message); f.next();) {
    std::uint64_t iid = 0;
    std::string_view text;
    for (Fields entry(f.bytes()); entry.next();) {
      if (entry.number() == pf::interned::kIid) iid = entry.value();
      if (entry.number() == pf::interned::kText) text = entry.bytes();
    }
    switch (f.number()) {
      case pf::interned_data::kEventNames:
        sequence_->names.set(iid, part_.names.intern(text));
        break;
      case pf::interned_data::kEventCategories:
        sequence_->categories.set(iid, static_cast<std::uint32_t>(category_of(text).kind));
        break;
      case pf::interned_data::kDebugAnnotationNames:
        sequence_->annotation_names().names.set(iid, annotation_pool_.intern(text));
        break;
      case pf::interned_data::kDebugAnnotationStrings:
        sequence_->annotation_names().strings.set(iid, annotation_pool_.intern(text));
        break;
      default:
        break;
    }
  }
}

void PerfettoReader::read_defaults(std::string_view message) {
  for (Fields f(message); f.next();) {
    if (f.number() == pf::defaults::kTimestampClockId) {
      sequence_->default_clock = static_cast<std::uint32_t>(f.value());
    }
    if (f.number() != pf::defaults::kTrackEvent) continue;
    for (Fields event(f.bytes()); event.next();) {
      if (event.number() != pf::track_event::kTrackUuid) continue;
      sequence_->default_track = event.value();
      sequence_->default_slot = UINT32_MAX;
      sequence_->has_default_track = true;
    }
  }
}

void PerfettoReader::read_clock_snapshot(std::string_view message) {
  for (const ClockReading& reading : clocks_.add_snapshot(message, sequence_->id)) {
    if (!reading.incremental && reading.unit_ns == 1) continue;
    Sequence::Clock* clock = sequence_->clock(reading.clock);
    if (clock == nullptr) {
      if (sequence_->clocks.size() >= 64) continue;  // as many as there are sequence clocks
      clock = &sequence_->clocks.emplace_back();
    }
    *clock = {reading.clock, reading.time_ns, reading.unit_ns, reading.incremental};
  }
}

void PerfettoReader::read_thread(std::string_view message) {
  sequence_->has_thread = true;
  for (Fields f(message); f.next();) {
    if (f.number() == pf::thread::kPid) sequence_->pid = f.signed_value();
    if (f.number() == pf::thread::kTid) sequence_->tid = f.signed_value();
    if (f.number() == pf::thread::kReferenceTimestampUs) sequence_->reference_us = f.signed_value();
  }
  tracks_.describe(legacy_thread_uuid(sequence_->pid, sequence_->tid),
                   read_thread_descriptor(message));
}

Trace PerfettoReader::finish(std::string_view bytes, std::shared_ptr<const void> owner) {
  flows_.finish();
  tracks_.finish(end_ns_, run_.scope_ends);
  if (run_.time_shift_ns != 0) shift_times(part_, -run_.time_shift_ns);
  std::vector<FailedCalls> failed_calls;
  for (const auto& [what, calls] : failed_calls_) {
    failed_calls.push_back({std::string(part_.names.view(what.first)), what.second, calls});
  }
  RunInfo info = std::move(run_.info);
  info.format = run_.is_recording ? "Fathom run" : "Perfetto";
  if (!info.base_time_ns) info.base_time_ns = clocks_.unix_offset();
  std::vector<TracePart> parts;
  parts.push_back(std::move(part_));
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads);
  Trace trace = assemble(std::move(parts), std::move(info), threads);
  trace.operations = std::move(run_.operations);
  trace.failed_calls = std::move(failed_calls);
  std::unordered_map<std::uint32_t, std::vector<AnnotationNames>> names;
  for (auto& [id, sequence] : sequences_) {
    if (!sequence.annotations.empty()) names.emplace(id, std::move(sequence.annotations));
  }
  const auto args = std::make_shared<const PerfettoArgs>(
      bytes, std::move(owner), std::move(annotation_pool_), std::move(names));
  trace.args_at = [args](std::uint64_t source) { return args->at(source); };
  return trace;
}

}  // namespace fathom::trace
