#include "trace/write/perfetto_packet.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <protozero/pbf_writer.hpp>

#include "base/json_scan.h"
#include "perfetto/fields.h"

namespace fathom::trace {
namespace pf = perfetto;
using protozero::pbf_writer;
namespace {

// An annotation without a value makes Perfetto's trace processor crash: there is none for null.
constexpr std::string_view kNull = "null";

std::optional<std::uint64_t> unsigned_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Perfetto shows nothing of a number that is written as JSON text, so text is for lists and
// objects.
void add_value(pbf_writer& annotation, std::string_view json) {
  if (json.starts_with('"')) {
    annotation.add_string(pf::debug_annotation::kString,
                          base::unescaped(json.substr(1, json.size() - 2)));
  } else if (json == "true" || json == "false") {
    annotation.add_bool(pf::debug_annotation::kBool, json == "true");
  } else if (const auto integer = base::integer_of(json)) {
    annotation.add_int64(pf::debug_annotation::kInt, *integer);
  } else if (const auto natural = unsigned_of(json)) {
    annotation.add_uint64(pf::debug_annotation::kUint, *natural);
  } else if (const auto real = base::real_of(json); real && std::isfinite(*real)) {
    annotation.add_double(pf::debug_annotation::kDouble, *real);
  } else if (!json.starts_with('{') && !json.starts_with('[')) {
    annotation.add_string(pf::debug_annotation::kString, json.data(), json.size());
  } else {
    annotation.add_string(pf::debug_annotation::kLegacyJson, json.data(), json.size());
  }
}

}  // namespace

std::uint64_t InternedTexts::id(std::string_view text) {
  const auto [at, is_new] = ids_.try_emplace(std::string(text), ids_.size() + 1);
  if (is_new) {
    pbf_writer added(added_);
    pbf_writer entry(added, field_);
    entry.add_uint64(pf::interned::kIid, at->second);
    entry.add_string(pf::interned::kText, text.data(), text.size());
  }
  return at->second;
}

void InternedTexts::flush_to(std::string& interned_data) {
  interned_data += added_;
  added_.clear();
}

EventWriter::EventWriter(base::Output& out, std::int64_t shift_ns)
    : out_(out),
      shift_ns_(shift_ns),
      names_(pf::interned_data::kEventNames),
      categories_(pf::interned_data::kEventCategories),
      keys_(pf::interned_data::kDebugAnnotationNames) {}

void EventWriter::begin(std::uint32_t type, std::uint64_t track_uuid) {
  event_.clear();
  pbf_writer event(event_);
  if (type != 0) event.add_uint32(pf::track_event::kType, type);
  event.add_uint64(pf::track_event::kTrackUuid, track_uuid);
}

void EventWriter::name(std::string_view name) {
  if (name.empty()) return;
  pbf_writer(event_).add_uint64(pf::track_event::kNameIid, names_.id(name));
}

void EventWriter::category(std::string_view category) {
  pbf_writer(event_).add_uint64(pf::track_event::kCategoryIids, categories_.id(category));
}

void EventWriter::annotate(std::string_view key, std::int64_t value) {
  pbf_writer event(event_);
  pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_uint64(pf::debug_annotation::kNameIid, keys_.id(key));
  annotation.add_int64(pf::debug_annotation::kInt, value);
}

void EventWriter::annotate_unsigned(std::string_view key, std::uint64_t value) {
  pbf_writer event(event_);
  pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_uint64(pf::debug_annotation::kNameIid, keys_.id(key));
  annotation.add_uint64(pf::debug_annotation::kUint, value);
}

void EventWriter::annotate_json(std::string_view key, std::string_view json) {
  if (json == kNull) return;
  pbf_writer event(event_);
  pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_uint64(pf::debug_annotation::kNameIid, keys_.id(key));
  add_value(annotation, json);
}

void EventWriter::annotate_as_text(std::string_view key, std::string_view json) {
  if (json == kNull) return;
  pbf_writer event(event_);
  pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_uint64(pf::debug_annotation::kNameIid, keys_.id(key));
  annotation.add_string(pf::debug_annotation::kLegacyJson, json.data(), json.size());
}

void EventWriter::counter_value(double value) {
  pbf_writer(event_).add_double(pf::track_event::kDoubleCounterValue, value);
}

void EventWriter::flow(char phase, std::uint64_t id) {
  pbf_writer event(event_);
  pbf_writer legacy(event, pf::track_event::kLegacyEvent);
  legacy.add_int32(pf::legacy_event::kPhase, phase);
  legacy.add_uint64(pf::legacy_event::kUnscopedId, id);
  legacy.add_bool(pf::legacy_event::kBindToEnclosing, true);
}

void EventWriter::write(std::int64_t time_ns) {
  packet_.clear();
  pbf_writer packet(packet_);
  const auto moved = static_cast<std::uint64_t>(time_ns) + static_cast<std::uint64_t>(shift_ns_);
  packet.add_uint64(pf::packet::kTimestamp, moved);
  packet.add_uint32(pf::packet::kSequenceId, kWriterSequence);
  packet.add_uint32(pf::packet::kSequenceFlags, pf::kNeedsState);
  std::string interned;
  categories_.flush_to(interned);
  names_.flush_to(interned);
  keys_.flush_to(interned);
  if (!interned.empty()) packet.add_message(pf::packet::kInternedData, interned);
  packet.add_message(pf::packet::kTrackEvent, event_);
  write_packet(out_, packet_);
}

void write_packet(base::Output& out, std::string_view packet) {
  pbf_writer(out.buffer()).add_message(pf::trace::kPacket, packet.data(), packet.size());
  out.flush_if_full();
}

}  // namespace fathom::trace
