#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::analyze {

// One record of a TORCH_TRACE log: a line of JSON that torch wrote behind its usual prefix, and the
// lines that follow it with a tab before each, its payload. All views are into the log.
struct LogRecord {
  std::string_view json;     // of the line
  std::string_view payload;  // with the tabs and line breaks as they are
  std::size_t line = 0;      // of the record, from 1
};

// "a\n\tb" → "a\nb": the payload as it was before it was written to the log.
std::string payload_text(const LogRecord& record);
// Of what people read, the beginning: no reason is as long as 64 KB.
std::string payload_words(LogRecord record);

// Whether its payload has another checksum (MD5) than the record says; false where it says none.
bool is_damaged(const LogRecord& record);

// Whether it is of a kind of which we use nothing, told by its first key: half of a log.
bool says_nothing(const LogRecord& record);

// Calls `each(LogRecord)` for every record. Returns the lines that are none: not a prefix of
// torch's with an object behind it.
template <typename Each>
std::uint64_t for_each_record(std::string_view log, Each each);

// Whether a file that begins like this is such a log.
bool is_compile_log(std::string_view head);

// The JSON behind the prefix "V0524 12:48:44.658000 140144363024384 torch/x.py:784] "; nothing
// where the line has none.
std::optional<std::string_view> json_of_line(std::string_view line);

template <typename Each>
std::uint64_t for_each_record(std::string_view log, Each each) {
  std::uint64_t unreadable = 0;
  std::optional<LogRecord> open;
  std::size_t number = 0;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = log.substr(at, end - at);
    ++number;
    if (line.starts_with('\t')) {
      if (open && open->payload.empty())
        open->payload = line;
      else if (open)
        open->payload = {open->payload.data(), line.data() + line.size()};
    } else if (!line.empty()) {
      if (open) each(*open);
      open.reset();
      if (const auto json = json_of_line(line)) {
        open = LogRecord{.json = *json, .payload = {}, .line = number};
      } else {
        ++unreadable;
      }
    }
    at = end + 1;
  }
  if (open) each(*open);
  return unreadable;
}

}  // namespace fathom::analyze
