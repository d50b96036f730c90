#include "trace/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"

namespace fathom::trace {
namespace {

std::string counted(const Warning& warning) {
  const auto plural = [&](std::string_view one, std::string_view many) {
    return base::format_plural(warning.count, one, many);
  };
  switch (warning.kind) {
    case WarningKind::cut_off:
      return "the file is cut off";
    case WarningKind::damaged_packing:
      return "the compressed data is cut off or damaged";
    case WarningKind::bad_event:
      return plural("unreadable event", "unreadable events");
    case WarningKind::null_event:
      return plural("empty event", "empty events");
    case WarningKind::missing_time:
      return plural("event without a time", "events without a time");
    case WarningKind::missing_duration:
      return plural("event without a duration", "events without a duration");
    case WarningKind::negative_duration:
      return plural("event with a negative duration", "events with a negative duration");
    case WarningKind::unmatched_begin:
      return plural("event that begins and never ends", "events that begin and never end");
    case WarningKind::unmatched_end:
      return plural("event that ends and never began", "events that end and never began");
    case WarningKind::bad_escape:
      return plural("invalid escape in a string", "invalid escapes in strings");
    case WarningKind::control_character:
      return plural("raw control character in a string", "raw control characters in strings");
    case WarningKind::bad_utf8:
      return plural("string that is not UTF-8", "strings that are not UTF-8");
    case WarningKind::unescaped_quote:
      return plural("unescaped quote in a string", "unescaped quotes in strings");
    case WarningKind::bad_number:
      return plural("invalid number", "invalid numbers");
    case WarningKind::bad_comma:
      return plural("misplaced or missing comma", "misplaced or missing commas");
    case WarningKind::lost_packets:
      return plural("packet lost or undecodable", "packets lost or undecodable");
    case WarningKind::unknown_field_type:
      return plural("field of the wrong type", "fields of the wrong type");
    case WarningKind::damaged_table:
      return plural("damaged table, read as far as it goes",
                    "damaged tables, read as far as they go");
    case WarningKind::refused_call:
      return plural("object that is not plain data, left out",
                    "objects that are not plain data, left out");
    case WarningKind::impossible_bytes:
      return plural("size beyond 4 TB or below 0, left out",
                    "sizes beyond 4 TB or below 0, left out");
    case WarningKind::stray_time:
      return plural("event at a time far from all others, left out",
                    "events at times far from all others, left out");
  }
  return {};
}

}  // namespace

void Warnings::add(WarningKind kind, std::uint64_t byte, std::uint64_t count) {
  if (count == 0) return;
  const auto at = std::lower_bound(all_.begin(), all_.end(), kind,
                                   [](const Warning& w, WarningKind k) { return w.kind < k; });
  if (at == all_.end() || at->kind != kind) {
    all_.insert(at, {kind, count, byte});
  } else {
    at->count += count;
    at->first_byte = std::min(at->first_byte, byte);
  }
}

void Warnings::merge(const Warnings& other) {
  for (const Warning& warning : other.all_) add(warning.kind, warning.first_byte, warning.count);
}

void Warnings::remove(WarningKind kind) {
  std::erase_if(all_, [&](const Warning& warning) { return warning.kind == kind; });
}

std::uint64_t Warnings::count(WarningKind kind) const {
  for (const Warning& warning : all_) {
    if (warning.kind == kind) return warning.count;
  }
  return 0;
}

std::string describe(const Warning& warning) {
  if (warning.first_byte == kNowhere) return counted(warning);
  const bool once = warning.count == 1;
  return fmt::format("{} ({}at byte {})", counted(warning), once ? "" : "first ",
                     base::format_count(warning.first_byte));
}

}  // namespace fathom::trace
