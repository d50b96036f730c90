#include "profiler/activity_writer.h"

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "profiler/packets.h"

namespace fathom::detail {
namespace {

namespace pf = base::perfetto;
using protozero::pbf_writer;

// As src/trace/kind.h calls them.
std::string_view category(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kernel:
      return "kernel";
    case ActivityKind::copy:
      return "copy";
    case ActivityKind::fill:
      return "fill";
    case ActivityKind::api_call:
      return "runtime_call";
    case ActivityKind::sync:
      return "sync";
  }
  return "other";
}

std::string_view name_of(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::host_to_device:
      return "host to device";
    case CopyDirection::device_to_host:
      return "device to host";
    case CopyDirection::device_to_device:
      return "device to device";
    case CopyDirection::peer_to_peer:
      return "peer to peer";
    case CopyDirection::unknown:
      break;
  }
  return {};
}

bool on_thread(ActivityKind kind) {
  return kind == ActivityKind::api_call || kind == ActivityKind::sync;
}

std::string track_name(const GpuActivity& activity) {
  if (on_thread(activity.kind)) {
    return "GPU calls of thread " +
           (activity.thread ? std::to_string(*activity.thread) : std::string("?"));
  }
  std::string name = "GPU " + std::to_string(activity.device);
  if (activity.queue) name += " queue " + std::to_string(*activity.queue);
  return name;
}

void add_number(pbf_writer& event, std::string_view name, std::int64_t value) {
  pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_string(pf::debug_annotation::kName, name.data(), name.size());
  annotation.add_int64(pf::debug_annotation::kInt, value);
}

void add_text(pbf_writer& event, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_string(pf::debug_annotation::kName, name.data(), name.size());
  annotation.add_string(pf::debug_annotation::kString, value.data(), value.size());
}

void add_details(pbf_writer& event, const GpuActivity& activity) {
  if (activity.correlation) add_number(event, "correlation", *activity.correlation);
  if (activity.bytes) add_number(event, "bytes", static_cast<std::int64_t>(*activity.bytes));
  if (activity.scope)
    add_number(event, "scope", static_cast<std::int64_t>(activity.scope.instance));
  if (!on_thread(activity.kind)) add_number(event, "device", activity.device);
  if (activity.queue) add_number(event, "stream", *activity.queue);
  add_text(event, "backend", activity.backend);
  add_text(event, "direction", name_of(activity.direction));
}

// An event on the clock that activities are on; `fill(event)` adds to it.
template <typename Fill>
void append_event(std::string& out, std::uint32_t sequence, std::uint64_t track,
                  std::int64_t time_ns, pf::track_event::Type type, Fill&& fill) {
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence);
    packet.add_uint64(pf::packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
    packet.add_uint32(pf::packet::kTimestampClockId, pf::kMonotonicRaw);
    pbf_writer event(packet, pf::packet::kTrackEvent);
    event.add_uint32(pf::track_event::kType, type);
    event.add_uint64(pf::track_event::kTrackUuid, track);
    fill(event);
  });
}

}  // namespace

std::uint64_t ActivityWriter::new_track(const std::string& name, bool counter) {
  const std::uint64_t track = process_track_ ^ (++tracks_ << 32);
  std::string out;
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence_);
    if (tracks_ == 1) packet.add_uint32(pf::packet::kSequenceFlags, pf::kStateCleared);
    pbf_writer descriptor(packet, pf::packet::kTrackDescriptor);
    descriptor.add_uint64(pf::track_descriptor::kUuid, track);
    descriptor.add_string(pf::track_descriptor::kName, name);
    descriptor.add_uint64(pf::track_descriptor::kParentUuid, process_track_);
    if (counter) {
      pbf_writer kind(descriptor, pf::track_descriptor::kCounter);
      kind.add_uint32(pf::counter::kUnit, pf::counter::kSizeBytes);
    }
  });
  file_.append(out);
  return track;
}

std::uint64_t ActivityWriter::lane_for(const GpuActivity& activity) {
  const std::string name = track_name(activity);
  std::vector<Lane>& lanes = lanes_[name];
  auto lane = std::find_if(lanes.begin(), lanes.end(),
                           [&](const Lane& each) { return each.end_ns <= activity.start_ns; });
  if (lane == lanes.end()) lane = lanes.insert(lane, {new_track(name, false), 0});
  lane->end_ns = activity.end_ns;
  return lane->track;
}

void ActivityWriter::write(const GpuActivity& activity) {
  const std::uint64_t track = lane_for(activity);
  std::string out;
  append_event(out, sequence_, track, activity.start_ns, pf::track_event::kSliceBegin,
               [&](pbf_writer& event) {
                 event.add_string(pf::track_event::kName, activity.name);
                 const std::string_view kind = category(activity.kind);
                 event.add_string(pf::track_event::kCategories, kind.data(), kind.size());
                 add_details(event, activity);
               });
  append_event(out, sequence_, track, activity.end_ns, pf::track_event::kSliceEnd,
               [](pbf_writer& /*event*/) {});
  file_.append(out);
}

void ActivityWriter::write(const MemoryRecord& record) {
  MemoryTrack& memory = memory_[record.device];
  if (memory.track == 0) {
    memory.track = new_track("GPU " + std::to_string(record.device) + " memory", true);
  }
  memory.in_use += record.bytes;
  std::string out;
  append_event(
      out, sequence_, memory.track, record.time_ns, pf::track_event::kCounter,
      [&](pbf_writer& event) { event.add_int64(pf::track_event::kCounterValue, memory.in_use); });
  file_.append(out);
}

void ActivityWriter::write(const ActivityLog::Content& content) {
  for (const GpuActivity& activity : content.activities) write(activity);
  for (const MemoryRecord& record : content.memory) write(record);
}

}  // namespace fathom::detail
