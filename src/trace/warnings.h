#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::trace {

// What a reader had to leave out, repair or guess. Each is counted, so that a file with a million
// of them still gives one line.
enum class WarningKind : std::uint8_t {
  cut_off,             // the file ends in the middle
  damaged_packing,     // gzip or zstd stops unpacking before the end
  bad_event,           // not readable as an event
  null_event,          // null or {} in the place of an event
  missing_time,        // no timestamp
  missing_duration,    // complete event without a duration
  negative_duration,   // duration below 0
  unmatched_begin,     // began, never ended
  unmatched_end,       // ended, never began
  bad_escape,          // \c, \x, \u + non-hex in a string: kept as written
  control_character,   // raw control character in a string: kept
  bad_utf8,            // bytes that are not UTF-8: kept
  unescaped_quote,     // a quote inside a string: string kept whole
  bad_number,          // NaN, Infinity or a malformed number
  bad_comma,           // trailing, leading, missing or doubled comma
  lost_packets,        // Perfetto: packets its recorder dropped, or that lack what they refer to
  unknown_field_type,  // profile JSON: a field that is not of the type it should be
  damaged_table,       // SQLite: a table whose rows could not all be read
  refused_call,        // pickle: an object that only running code of the file would make
  impossible_bytes,    // more than 4 TB in one copy or allocation: left out
  stray_time,          // alone and far from all others (strays.h): left out
};

inline constexpr std::uint64_t kNowhere = UINT64_MAX;  // the place of what has none in the file

struct Warning {
  WarningKind kind;
  std::uint64_t count = 0;
  std::uint64_t first_byte = 0;  // in the unpacked content, of the first of them; or kNowhere
};

class Warnings {
 public:
  void add(WarningKind kind, std::uint64_t byte, std::uint64_t count = 1);
  void merge(const Warnings& other);
  void remove(WarningKind kind);
  const std::vector<Warning>& all() const { return all_; }  // by kind
  std::uint64_t count(WarningKind kind) const;
  bool empty() const { return all_.empty(); }

 private:
  std::vector<Warning> all_;
};

// "3 events without a duration (first at byte 1,204)".
std::string describe(const Warning& warning);

}  // namespace fathom::trace
