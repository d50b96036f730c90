#include <fmt/format.h>

#include <algorithm>

#include "perfetto/fields.h"
#include "trace/read/chrome/category.h"
#include "trace/read/number.h"
#include "trace/read/perfetto/message_fields.h"
#include "trace/read/perfetto/reader.h"

// Events: slices, instants, counters, flows, and those of the JSON trace format in Perfetto's
// dress.
namespace fathom::trace {
namespace pf = perfetto;
bool PerfettoReader::find_time(const PacketFields& packet, const EventFields& event,
                               std::int64_t& time_ns) {
  if (!event.delta_us && !event.absolute_us) {
    return convert_time(packet.clock != 0 ? packet.clock : sequence_->default_clock,
                        packet.timestamp, packet.has_timestamp, time_ns);
  }
  const auto us = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  if (event.delta_us) {
    sequence_->reference_us =
        static_cast<std::int64_t>(us(sequence_->reference_us) + us(*event.delta_us));
  }
  return to_trace_time(pf::kMonotonic,
                       us(event.absolute_us.value_or(sequence_->reference_us)) * 1000, time_ns);
}

void PerfettoReader::read_track_event(const PacketFields& packet, PacketPlace place) {
  const EventFields event = read_event(packet.track_event);
  SpanRow row;
  row.source = place;
  if (event.is_broken || !find_time(packet, event, row.start_ns)) {
    part_.warnings.add(event.is_broken ? WarningKind::bad_event : WarningKind::missing_time,
                       byte_of(place));
    return;
  }
  end_ns_ = std::max(end_ns_, row.start_ns);
  if (!event.name.empty()) {
    row.name = part_.names.intern(event.name);
  } else if (event.name_iid != 0) {
    const std::uint32_t id = sequence_->names.get(event.name_iid);
    if (id != IidTable::kMissing) {
      row.name = id;
    } else {
      part_.warnings.add(WarningKind::lost_packets, byte_of(place));
    }
  }
  if (event.category_iid != 0) {
    const std::uint32_t kind = sequence_->categories.get(event.category_iid);
    if (kind != IidTable::kMissing) row.kind = static_cast<SpanKind>(kind);
  } else if (!event.category.empty()) {
    row.kind = category_of(event.category).kind;
  } else if (run_.is_recording) {
    row.kind = SpanKind::scope;
  }
  if (!event.legacy.empty() && event.type == 0) {
    read_legacy_event(event, packet.track_event, row);
    return;
  }
  if (event.has_track) {
    row.track = tracks_.slot(event.track_uuid);
  } else if (sequence_->has_default_track) {
    std::uint32_t& slot = sequence_->default_slot;
    if (slot == UINT32_MAX) slot = tracks_.slot(sequence_->default_track);
    row.track = slot;
  } else {
    row.track = sequence_->has_thread ? legacy_track({}, false) : tracks_.slot(0);
  }
  if (event.has_correlation) row.correlation = static_cast<std::int64_t>(event.correlation);
  if (event.has_flows) {
    tracks_.mark_used(row.track);
    flows_.add(packet.track_event, row);
  }
  switch (event.type) {
    case pf::track_event::kSliceBegin:
      if (event.has_annotations) add_noted(read_annotations(packet.track_event, row), row.name);
      tracks_.begin(row);
      break;
    case pf::track_event::kSliceEnd:
      end_slice(event, packet.track_event, row);
      break;
    case pf::track_event::kInstant:
      add_instant(packet.track_event, row);
      break;
    case pf::track_event::kCounter:
      tracks_.add_counter_step(
          row.track, row.start_ns,
          event.is_double ? event.real_value : static_cast<double>(event.int_value));
      break;
    default:
      break;
  }
}

PerfettoReader::Noted PerfettoReader::read_annotations(std::string_view message, SpanRow& row) {
  Noted noted;
  std::string_view global;  // size of a launch
  std::string_view local;
  for (Fields f(message); f.next();) {
    if (f.number() != pf::track_event::kDebugAnnotations) continue;
    const DebugAnnotation annotation = read_annotation(f.bytes(), *sequence_, annotation_pool_);
    if (annotation.name == kAnnotationCorrelation && annotation.integer) {
      if (*annotation.integer > 0) row.correlation = *annotation.integer;
    } else if (annotation.name == kAnnotationBytes && annotation.integer) {
      noted.bytes = annotation.integer;
    } else if (annotation.name == kAnnotationScope && run_.is_recording) {
      noted.scope = annotation.integer;
    } else if (annotation.name == kAnnotationError && run_.is_recording) {
      noted.error = annotation.integer;
    } else if (annotation.name == kAnnotationGlobal && row.kind == SpanKind::kernel) {
      global = annotation.text;
    } else if (annotation.name == kAnnotationLocal) {
      local = annotation.text;
    }
  }
  if (!global.empty()) {
    const std::string at_once = local.empty() ? std::string() : fmt::format(", local {}", local);
    row.shape = part_.names.intern(fmt::format("global {}{}", global, at_once));
  }
  return noted;
}

void PerfettoReader::add_noted(const Noted& noted, NameId name) {
  const auto span = static_cast<SpanId>(part_.spans.size());
  if (noted.error.value_or(0) != 0) ++failed_calls_[{name, *noted.error}];
  if (noted.bytes) part_.bytes.push_back({span, *noted.bytes});
  if (noted.scope) part_.scopes.push_back({span, static_cast<std::uint64_t>(*noted.scope)});
}

// A scope learns its number while it is open, so its end has it.
void PerfettoReader::end_slice(const EventFields& event, std::string_view message,
                               const SpanRow& row) {
  const SpanRow* const ended = tracks_.end(row.track, row.start_ns, row.source);
  if (ended == nullptr || !event.has_annotations) return;
  SpanRow ignored;
  if (const Noted noted = read_annotations(message, ignored); noted.scope) {
    part_.scopes.push_back({static_cast<SpanId>(ended - part_.spans.data()),
                            static_cast<std::uint64_t>(*noted.scope)});
  }
}

void PerfettoReader::add_instant(std::string_view message, const SpanRow& row) {
  tracks_.mark_used(row.track);
  if (part_.names.view(row.name) == kMemoryEventName) {
    add_memory_event(message, row);
  } else {
    part_.instants.push_back({row.start_ns, row.source, row.name, row.track});
  }
}

void PerfettoReader::add_memory_event(std::string_view message, const SpanRow& row) {
  MemoryEvent event;
  event.time_ns = row.start_ns;
  event.track = row.track;
  for (Fields f(message); f.next();) {
    if (f.number() != pf::track_event::kDebugAnnotations) continue;
    const DebugAnnotation annotation = read_annotation(f.bytes(), *sequence_, annotation_pool_);
    if (annotation.name == kAnnotationMemorySite) event.site = part_.names.intern(annotation.text);
    if (!annotation.integer) continue;
    const std::int64_t value = *annotation.integer;
    switch (annotation.name) {
      case kAnnotationMemoryBytes:
        event.bytes = value;
        break;
      case kAnnotationMemoryAddress:
      case kAnnotationMemoryHandle:
        event.address = static_cast<std::uint64_t>(value);
        event.is_handle = annotation.name == kAnnotationMemoryHandle;
        break;
      case kAnnotationTotalAllocated:
        event.total_allocated = value;
        break;
      case kAnnotationTotalReserved:
        event.total_reserved = value;
        break;
      case kAnnotationDeviceId:
        event.device_index = static_cast<std::int32_t>(value);
        break;
      case kAnnotationDeviceType:
        event.device = value == 0   ? MemoryDevice::cpu
                       : value == 1 ? MemoryDevice::gpu
                                    : MemoryDevice::unknown;
        break;
      default:
        break;
    }
  }
  part_.memory.push_back(event);
}

SlotId PerfettoReader::legacy_track(const LegacyFields& legacy, bool is_async) {
  const std::int64_t pid = legacy.pid.value_or(sequence_->pid);
  const std::int64_t tid = legacy.tid.value_or(sequence_->tid);
  const std::uint64_t uuid =
      is_async ? legacy_async_uuid(legacy.id, legacy.id_scope, legacy.id_is_local ? pid : 0)
               : legacy_thread_uuid(pid, tid);
  const SlotId slot = tracks_.slot(uuid);
  if (tracks_.descriptor(slot) == nullptr) {
    TrackDescriptor descriptor;
    descriptor.pid = pid;
    if (!is_async) descriptor.tid = tid;
    tracks_.describe(uuid, std::move(descriptor));
  }
  return slot;
}

void PerfettoReader::read_legacy_event(const EventFields& event, std::string_view message,
                                       SpanRow row) {
  const LegacyFields legacy = read_legacy(event.legacy);
  if (row.name == 0 && legacy.name_iid != 0) {
    const std::uint32_t id = sequence_->names.get(legacy.name_iid);
    if (id != IidTable::kMissing) row.name = id;
  }
  constexpr std::string_view kAsyncPhases = "benSTpF";
  const bool is_async =
      legacy.phase != 0 && kAsyncPhases.find(legacy.phase) != std::string_view::npos;
  if (event.has_track) {
    row.track = tracks_.slot(event.track_uuid);
  } else if (!is_async && sequence_->has_default_track && !legacy.tid) {
    row.track = tracks_.slot(sequence_->default_track);
  } else {
    row.track = legacy_track(legacy, is_async);
  }
  Noted noted;
  if (event.has_annotations) noted = read_annotations(message, row);
  switch (legacy.phase) {
    case 'B':
    case 'b':
    case 'S':
      add_noted(noted, row.name);
      tracks_.begin(row);
      break;
    case 'E':
    case 'e':
    case 'F':
      tracks_.end(row.track, row.start_ns, row.source);
      break;
    case 'X':
      add_noted(noted, row.name);
      add_complete(legacy, row);
      break;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      add_instant(message, row);
      break;
    case 'C':
      tracks_.mark_used(row.track);
      add_legacy_counter(message, row);
      break;
    case 's':
    case 't':
    case 'f':
      tracks_.mark_used(row.track);
      part_.flows.push_back({legacy.id != 0 ? legacy.id : legacy.bind_id, row.start_ns, row.name,
                             row.track,
                             legacy.phase == 's'   ? FlowPhase::begin
                             : legacy.phase == 't' ? FlowPhase::step
                                                   : FlowPhase::end});
      break;
    default:
      break;
  }
}

void PerfettoReader::add_complete(const LegacyFields& legacy, SpanRow row) {
  constexpr std::int64_t kMaxUs = kMaxTime / 1000;
  if (legacy.duration_us < 0 || legacy.duration_us > kMaxUs) {
    part_.warnings.add(WarningKind::negative_duration, byte_of(row.source));
    row.duration_ns = 0;
  } else {
    row.duration_ns = std::min(legacy.duration_us * 1000, kMaxTime - row.start_ns);
  }
  end_ns_ = std::max(end_ns_, row.start_ns + row.duration_ns);
  tracks_.mark_used(row.track);
  part_.spans.push_back(row);
}

// Each annotation of the event is a series; the counter is named after the event, and after the
// series where there are several.
void PerfettoReader::add_legacy_counter(std::string_view message, const SpanRow& row) {
  const std::string name(part_.names.view(row.name));
  bool is_first = true;
  for (Fields f(message); f.next();) {
    if (f.number() != pf::track_event::kDebugAnnotations) continue;
    const DebugAnnotation series = read_annotation(f.bytes(), *sequence_, annotation_pool_);
    if (!series.integer && !series.real) continue;
    const std::string_view label = annotation_pool_.view(series.name);
    const NameId id = is_first && (label.empty() || label == "value")
                          ? row.name
                          : part_.names.intern(name + " " + std::string(label));
    tracks_.add_counter_value(row.track, id, row.start_ns, series.number());
    is_first = false;
  }
}

}  // namespace fathom::trace
