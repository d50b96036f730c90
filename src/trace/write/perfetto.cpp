#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "base/json_writer.h"
#include "perfetto/fields.h"
#include "perfetto/operation_packet.h"
#include "trace/write/args.h"
#include "trace/write/formats.h"
#include "trace/write/lanes.h"
#include "trace/write/perfetto_packet.h"

namespace fathom::trace {
namespace pf = perfetto;
using protozero::pbf_writer;
namespace {

// Times below 0 do not exist in Perfetto; a trace that has them is moved up, and says by how much.
std::int64_t shift_of(const Trace& trace) {
  std::int64_t first = 0;
  for (const std::int64_t start : trace.spans.start_ns) first = std::min(first, start);
  for (const Instant& instant : trace.instants) first = std::min(first, instant.time_ns);
  for (const MemoryEvent& event : trace.memory) first = std::min(first, event.time_ns);
  for (const FlowPoint& point : trace.flows) first = std::min(first, point.time_ns);
  for (const Counter& counter : trace.counters) {
    for (const std::int64_t time : counter.time_ns) first = std::min(first, time);
  }
  return -std::max(first, -std::numeric_limits<std::int64_t>::max() / 2);
}

bool fits_a_pid(std::int64_t number) {
  return number > 0 && number <= std::numeric_limits<std::int32_t>::max();
}

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, base::Output& out)
      : trace_(trace), out_(out), shift_ns_(shift_of(trace)), events_(out, shift_ns_) {}

  void write() {
    write_run();
    for (TrackId id = 0; id < trace_.tracks.size(); ++id) write_track(id);
    for (TrackId id = 0; id < trace_.tracks.size(); ++id) write_spans(id);
    for (const Instant& instant : trace_.instants) write_instant(instant);
    for (const MemoryEvent& event : trace_.memory) write_memory(event);
    for (const FlowPoint& point : trace_.flows) write_flow(point);
    for (const Counter& counter : trace_.counters) write_counter(counter);
  }

 private:
  // Lane 0 of a track has a uuid that its number tells; the others count on from there.
  static std::uint64_t uuid_of(TrackId track) { return std::uint64_t{track} + 1; }

  void write_run();
  void write_track(TrackId id);
  void write_descriptor(TrackId id, std::uint64_t uuid, std::uint32_t lane);
  std::uint64_t process_uuid(const Track& track);
  void write_spans(TrackId id);
  void write_lane(std::uint64_t uuid, const std::vector<SpanId>& spans);
  void write_begin(std::uint64_t uuid, SpanId id);
  void write_args(std::uint64_t source, std::int64_t correlation, const std::int64_t* bytes);
  void write_instant(const Instant& instant);
  void write_memory(const MemoryEvent& event);
  void write_flow(const FlowPoint& point);
  void write_counter(const Counter& counter);

  const Trace& trace_;
  base::Output& out_;
  std::int64_t shift_ns_;
  EventWriter events_;
  std::map<std::pair<std::int64_t, std::string>, std::uint64_t> processes_;
  std::uint64_t next_uuid_ = trace_.tracks.size() + 1;
};

void add_clock(pbf_writer& snapshot, std::uint32_t clock, std::int64_t time_ns) {
  pbf_writer message(snapshot, pf::clock_snapshot::kClocks);
  message.add_uint32(pf::clock::kClockId, clock);
  message.add_uint64(pf::clock::kTimestamp, static_cast<std::uint64_t>(time_ns));
}

void add_device(pbf_writer& run, const DeviceInfo& info) {
  pbf_writer device(run, pf::fathom_run::kDevice);
  device.add_int64(pf::fathom_device::kId, info.id);
  device.add_string(pf::fathom_device::kName, info.name);
  if (info.memory_bytes) device.add_int64(pf::fathom_device::kMemoryBytes, *info.memory_bytes);
  if (info.multiprocessors) {
    device.add_int64(pf::fathom_device::kMultiprocessors, *info.multiprocessors);
  }
}

void PerfettoWriter::write_run() {
  const RunInfo& info = trace_.run;
  std::string bytes;
  {
    pbf_writer packet(bytes);
    packet.add_uint32(pf::packet::kSequenceId, kWriterSequence);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kStateCleared);
    if (info.base_time_ns && *info.base_time_ns > shift_ns_) {
      pbf_writer snapshot(packet, pf::packet::kClockSnapshot);
      add_clock(snapshot, pf::kBoottime, shift_ns_);
      add_clock(snapshot, pf::kRealtime, *info.base_time_ns);
    }
    pbf_writer run(packet, pf::packet::kFathomRun);
    if (!info.command.empty()) run.add_string(pf::fathom_run::kCommand, info.command);
    if (!info.title.empty()) run.add_string(pf::fathom_run::kTitle, info.title);
    if (info.base_time_ns) run.add_int64(pf::fathom_run::kBaseTimeNs, *info.base_time_ns);
    if (info.rank) run.add_int64(pf::fathom_run::kRank, *info.rank);
    if (info.world_size) run.add_int64(pf::fathom_run::kWorldSize, *info.world_size);
    if (info.dropped_spans) run.add_int64(pf::fathom_run::kDroppedSpans, *info.dropped_spans);
    if (info.begin_ns) run.add_int64(pf::fathom_run::kBeginNs, *info.begin_ns);
    if (info.end_ns) run.add_int64(pf::fathom_run::kEndNs, *info.end_ns);
    if (info.exit_status) run.add_int64(pf::fathom_run::kExitStatus, *info.exit_status);
    if (info.signal) run.add_int64(pf::fathom_run::kSignal, *info.signal);
    if (info.cpu_ns) run.add_int64(pf::fathom_run::kCpuNs, *info.cpu_ns);
    if (shift_ns_ != 0) run.add_int64(pf::fathom_run::kTimeShiftNs, shift_ns_);
    for (const DeviceInfo& device : info.devices) add_device(run, device);
    for (const NamedFigures& operation : trace_.operations) pf::add_operation(run, operation);
  }
  write_packet(out_, bytes);
}

std::uint64_t PerfettoWriter::process_uuid(const Track& track) {
  const auto [at, is_new] = processes_.try_emplace({track.pid, track.pid_text}, next_uuid_);
  if (!is_new) return at->second;
  ++next_uuid_;
  const std::string name = !track.process_name.empty() ? track.process_name
                           : !track.pid_text.empty()   ? track.pid_text
                                                       : fmt::format("process {}", track.pid);
  std::string bytes;
  {
    pbf_writer packet(bytes);
    pbf_writer descriptor(packet, pf::packet::kTrackDescriptor);
    descriptor.add_uint64(pf::track_descriptor::kUuid, at->second);
    if (fits_a_pid(track.pid) && track.pid_text.empty()) {
      pbf_writer process(descriptor, pf::track_descriptor::kProcess);
      process.add_int32(pf::process::kPid, static_cast<std::int32_t>(track.pid));
      process.add_string(pf::process::kName, name);
    } else {
      descriptor.add_string(pf::track_descriptor::kName, name);
    }
  }
  write_packet(out_, bytes);
  return at->second;
}

void add_fathom_track(pbf_writer& descriptor, const Track& track) {
  pbf_writer ours(descriptor, pf::track_descriptor::kFathomTrack);
  ours.add_uint32(pf::fathom_track::kKind, static_cast<std::uint32_t>(track.kind));
  ours.add_int64(pf::fathom_track::kPid, track.pid);
  ours.add_int64(pf::fathom_track::kTid, track.tid);
  const auto add_text = [&](std::uint32_t field, const std::string& text) {
    if (!text.empty()) ours.add_string(field, text);
  };
  add_text(pf::fathom_track::kPidText, track.pid_text);
  add_text(pf::fathom_track::kTidText, track.tid_text);
  add_text(pf::fathom_track::kProcessName, track.process_name);
  add_text(pf::fathom_track::kThreadName, track.thread_name);
  if (track.device) ours.add_int64(pf::fathom_track::kDevice, *track.device);
  if (track.stream) ours.add_int64(pf::fathom_track::kStream, *track.stream);
}

void PerfettoWriter::write_descriptor(TrackId id, std::uint64_t uuid, std::uint32_t lane) {
  const Track& track = trace_.tracks[id];
  const std::uint64_t parent = lane == 0 ? process_uuid(track) : uuid_of(id);
  const bool is_thread = lane == 0 && track.kind == TrackKind::thread && fits_a_pid(track.pid) &&
                         fits_a_pid(track.tid) && track.pid_text.empty() && track.tid_text.empty();
  std::string name = !track.thread_name.empty() ? track.thread_name
                     : !track.tid_text.empty()  ? track.tid_text
                                                : fmt::format("track {}", track.tid);
  if (lane != 0) name += fmt::format(" (overlapping {})", lane);
  std::string bytes;
  {
    pbf_writer packet(bytes);
    pbf_writer descriptor(packet, pf::packet::kTrackDescriptor);
    descriptor.add_uint64(pf::track_descriptor::kUuid, uuid);
    descriptor.add_uint64(pf::track_descriptor::kParentUuid, parent);
    if (is_thread) {
      pbf_writer thread(descriptor, pf::track_descriptor::kThread);
      thread.add_int32(pf::thread::kPid, static_cast<std::int32_t>(track.pid));
      thread.add_int32(pf::thread::kTid, static_cast<std::int32_t>(track.tid));
      if (!track.thread_name.empty()) thread.add_string(pf::thread::kName, track.thread_name);
    } else {
      descriptor.add_string(pf::track_descriptor::kName, name);
    }
    add_fathom_track(descriptor, track);
  }
  write_packet(out_, bytes);
}

void PerfettoWriter::write_track(TrackId id) {
  write_descriptor(id, uuid_of(id), 0);
}

void PerfettoWriter::write_spans(TrackId id) {
  const Track& track = trace_.tracks[id];
  const std::vector<std::uint32_t> lanes = lanes_of(trace_.spans, track);
  std::vector<SpanId> order(track.span_count);
  for (SpanId i = 0; i < track.span_count; ++i) order[i] = track.first_span + i;
  std::stable_sort(order.begin(), order.end(), [&](SpanId a, SpanId b) {
    return lanes[a - track.first_span] < lanes[b - track.first_span];
  });
  std::vector<SpanId> lane;
  for (std::size_t i = 0; i < order.size();) {
    const std::uint32_t number = lanes[order[i] - track.first_span];
    lane.clear();
    while (i < order.size() && lanes[order[i] - track.first_span] == number) {
      lane.push_back(order[i++]);
    }
    const std::uint64_t uuid = number == 0 ? uuid_of(id) : next_uuid_++;
    if (number != 0) write_descriptor(id, uuid, number);
    write_lane(uuid, lane);
  }
}

void PerfettoWriter::write_lane(std::uint64_t uuid, const std::vector<SpanId>& spans) {
  std::vector<std::int64_t> open;
  const auto close_until = [&](std::int64_t time_ns) {
    while (!open.empty() && open.back() <= time_ns) {
      events_.begin(pf::track_event::kSliceEnd, uuid);
      events_.write(open.back());
      open.pop_back();
    }
  };
  for (const SpanId id : spans) {
    close_until(trace_.spans.start_ns[id]);
    write_begin(uuid, id);
    open.push_back(trace_.spans.end_ns(id));
  }
  close_until(std::numeric_limits<std::int64_t>::max());
}

void PerfettoWriter::write_begin(std::uint64_t uuid, SpanId id) {
  const Spans& spans = trace_.spans;
  const auto bytes =
      std::lower_bound(trace_.bytes.begin(), trace_.bytes.end(), id,
                       [](const SpanBytes& item, SpanId wanted) { return item.span < wanted; });
  const bool has_bytes = bytes != trace_.bytes.end() && bytes->span == id;
  events_.begin(pf::track_event::kSliceBegin, uuid);
  events_.name(trace_.names.view(spans.name[id]));
  events_.category(name_of(spans.kind[id]));
  write_args(spans.source[id], spans.correlation[id], has_bytes ? &bytes->bytes : nullptr);
  events_.write(spans.start_ns[id]);
}

// What the columns say is said from the columns; an argument of the same name that the reader made
// nothing of must not be made something of now.
void PerfettoWriter::write_args(std::uint64_t source, std::int64_t correlation,
                                const std::int64_t* bytes) {
  if (correlation != kNoCorrelation) events_.annotate("correlation", correlation);
  if (bytes != nullptr) events_.annotate("bytes", *bytes);
  if (!trace_.args_at || source == kNoSource) return;
  for (const auto& [key, value] : split_args(trace_.args_at(source))) {
    const bool is_column = key == "correlation" || key == "bytes";
    const bool is_said = key == "correlation" ? correlation != kNoCorrelation : bytes != nullptr;
    if (!is_column) {
      events_.annotate_json(key, value);
    } else if (!is_said) {
      events_.annotate_as_text(key, value);
    }
  }
}

void PerfettoWriter::write_instant(const Instant& instant) {
  events_.begin(pf::track_event::kInstant, uuid_of(instant.track));
  events_.name(trace_.names.view(instant.name));
  write_args(instant.source, kNoCorrelation, nullptr);
  events_.write(instant.time_ns);
}

void PerfettoWriter::write_memory(const MemoryEvent& event) {
  events_.begin(pf::track_event::kInstant, uuid_of(event.track));
  events_.name("[memory]");
  events_.annotate("Bytes", event.bytes);
  if (event.address) {
    events_.annotate_unsigned(event.is_handle ? "Handle" : "Addr", *event.address);
  }
  if (event.total_allocated) events_.annotate("Total Allocated", *event.total_allocated);
  if (event.total_reserved) events_.annotate("Total Reserved", *event.total_reserved);
  if (event.device_index != -1) events_.annotate("Device Id", event.device_index);
  if (event.device != MemoryDevice::unknown) {
    events_.annotate("Device Type", event.device == MemoryDevice::gpu ? 1 : 0);
  }
  if (event.site != 0) {
    std::string site;
    base::append_json_string(site, trace_.names.view(event.site));
    events_.annotate_json("by", site);
  }
  events_.write(event.time_ns);
}

void PerfettoWriter::write_flow(const FlowPoint& point) {
  constexpr std::string_view kPhases = "stf";
  events_.begin(0, uuid_of(point.track));
  events_.name(trace_.names.view(point.category));
  events_.flow(kPhases[static_cast<std::size_t>(point.phase)], point.id);
  events_.write(point.time_ns);
}

void PerfettoWriter::write_counter(const Counter& counter) {
  const std::uint64_t uuid = next_uuid_++;
  std::string bytes;
  {
    pbf_writer packet(bytes);
    pbf_writer descriptor(packet, pf::packet::kTrackDescriptor);
    descriptor.add_uint64(pf::track_descriptor::kUuid, uuid);
    descriptor.add_uint64(pf::track_descriptor::kParentUuid, uuid_of(counter.track));
    const std::string_view name = trace_.names.view(counter.name);
    descriptor.add_string(pf::track_descriptor::kName, name.data(), name.size());
    descriptor.add_message(pf::track_descriptor::kCounter, std::string());
  }
  write_packet(out_, bytes);
  for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
    events_.begin(pf::track_event::kCounter, uuid);
    events_.counter_value(counter.value[i]);
    events_.write(counter.time_ns[i]);
  }
}

}  // namespace

void write_perfetto(const Trace& trace, base::Output& out) {
  PerfettoWriter(trace, out).write();
}

}  // namespace fathom::trace
