#include "trace/read/perfetto/event.h"

#include "perfetto/fields.h"
#include "trace/read/perfetto/message_fields.h"

namespace fathom::trace {
namespace pf = perfetto;

EventFields read_event(std::string_view message) {
  EventFields event;
  Fields f(message);
  while (f.next()) {
    switch (f.number()) {
      case pf::track_event::kType:
        event.type = static_cast<std::uint32_t>(f.value());
        break;
      case pf::track_event::kNameIid:
        event.name_iid = f.value();
        break;
      case pf::track_event::kName:
        event.name = f.bytes();
        break;
      case pf::track_event::kTrackUuid:
        event.track_uuid = f.value();
        event.has_track = true;
        break;
      case pf::track_event::kCategoryIids:
        for_each_varint(f, [&](std::uint64_t iid) {
          if (event.category_iid == 0) event.category_iid = iid;
        });
        break;
      case pf::track_event::kCategories:
        if (event.category.empty()) event.category = f.bytes();
        break;
      case pf::track_event::kDebugAnnotations:
        event.has_annotations = true;
        break;
      case pf::track_event::kCorrelationId:
        event.correlation = f.value();
        event.has_correlation = true;
        break;
      case pf::track_event::kFlowIds:
      case pf::track_event::kFlowIdsOld:
      case pf::track_event::kTerminatingFlowIds:
      case pf::track_event::kTerminatingFlowIdsOld:
        event.has_flows = true;
        break;
      case pf::track_event::kCounterValue:
        event.int_value = f.signed_value();
        break;
      case pf::track_event::kDoubleCounterValue:
        event.real_value = f.real();
        event.is_double = true;
        break;
      case pf::track_event::kTimestampDeltaUs:
        event.delta_us = f.signed_value();
        break;
      case pf::track_event::kTimestampAbsoluteUs:
        event.absolute_us = f.signed_value();
        break;
      case pf::track_event::kLegacyEvent:
        event.legacy = f.bytes();
        break;
      default:
        break;
    }
  }
  event.is_broken = f.broken();
  return event;
}

LegacyFields read_legacy(std::string_view message) {
  LegacyFields legacy;
  for (Fields f(message); f.next();) {
    switch (f.number()) {
      case pf::legacy_event::kNameIid:
        legacy.name_iid = f.value();
        break;
      case pf::legacy_event::kPhase:
        legacy.phase = static_cast<char>(f.value());
        break;
      case pf::legacy_event::kDurationUs:
        legacy.duration_us = f.signed_value();
        break;
      case pf::legacy_event::kLocalId:
        legacy.id_is_local = true;
        legacy.id = f.value();
        break;
      case pf::legacy_event::kUnscopedId:
      case pf::legacy_event::kGlobalId:
        legacy.id = f.value();
        break;
      case pf::legacy_event::kIdScope:
        legacy.id_scope = f.bytes();
        break;
      case pf::legacy_event::kBindId:
        legacy.bind_id = f.value();
        break;
      case pf::legacy_event::kPidOverride:
        legacy.pid = f.signed_value();
        break;
      case pf::legacy_event::kTidOverride:
        legacy.tid = f.signed_value();
        break;
      default:
        break;
    }
  }
  return legacy;
}

void intern_known_annotations(base::StringPool& names) {
  for (const std::string_view name :
       {"correlation", "bytes", "Bytes", "Addr", "Total Allocated", "Total Reserved", "Device Id",
        "Device Type", "Handle", "by", "scope", "global", "local", "error"}) {
    names.intern(name);
  }
}

DebugAnnotation read_annotation(std::string_view message, const Sequence& sequence,
                                base::StringPool& names) {
  DebugAnnotation annotation;
  for (Fields f(message); f.next();) {
    switch (f.number()) {
      case pf::debug_annotation::kNameIid:
        if (!sequence.annotations.empty()) {
          const std::uint32_t id = sequence.annotations.back().names.get(f.value());
          if (id != IidTable::kMissing) annotation.name = id;
        }
        break;
      case pf::debug_annotation::kName:
        annotation.name = names.intern(f.bytes());
        break;
      case pf::debug_annotation::kUint:
      case pf::debug_annotation::kInt:
      case pf::debug_annotation::kPointer:
        annotation.integer = f.signed_value();
        break;
      case pf::debug_annotation::kDouble:
        annotation.real = f.real();
        break;
      case pf::debug_annotation::kString:
        annotation.text = f.bytes();
        break;
      case pf::debug_annotation::kStringIid:
        if (!sequence.annotations.empty()) {
          const std::uint32_t id = sequence.annotations.back().strings.get(f.value());
          if (id != IidTable::kMissing) annotation.text = names.view(id);
        }
        break;
      default:
        break;
    }
  }
  return annotation;
}

}  // namespace fathom::trace
