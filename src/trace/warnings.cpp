#include "trace/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/format.h"

namespace fathom::trace {
namespace {

// What a warning of each kind counts, one and many; what is said once and not counted has no many.
struct Counted {
  std::string_view one;
  std::string_view many = {};
};

constexpr std::array<Counted, 21> kCounted = {{
    {"the file is cut off"},
    {"the compressed data is cut off or damaged"},
    {"unreadable event", "unreadable events"},
    {"empty event", "empty events"},
    {"event without a time", "events without a time"},
    {"event without a duration", "events without a duration"},
    {"event with a negative duration", "events with a negative duration"},
    {"event that begins and never ends", "events that begin and never end"},
    {"event that ends and never began", "events that end and never began"},
    {"invalid escape in a string", "invalid escapes in strings"},
    {"raw control character in a string", "raw control characters in strings"},
    {"string that is not UTF-8", "strings that are not UTF-8"},
    {"unescaped quote in a string", "unescaped quotes in strings"},
    {"invalid number", "invalid numbers"},
    {"misplaced or missing comma", "misplaced or missing commas"},
    {"packet lost or undecodable", "packets lost or undecodable"},
    {"field of the wrong type", "fields of the wrong type"},
    {"damaged table, read as far as it goes", "damaged tables, read as far as they go"},
    {"object that is not plain data, left out", "objects that are not plain data, left out"},
    {"size beyond 4 TB or below 0, left out", "sizes beyond 4 TB or below 0, left out"},
    {"event at a time far from all others, left out",
     "events at times far from all others, left out"},
}};

std::string counted(const Warning& warning) {
  const Counted& words = kCounted[static_cast<std::size_t>(warning.kind)];
  if (words.many.empty()) return std::string(words.one);
  return base::format_plural(warning.count, words.one, words.many);
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
