#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::trace {

// A value as it is written: the characters of a number or word, or what is between the quotes of a
// string, escapes and all.
struct Token {
  std::string_view text;
  bool is_present = false;
  bool is_quoted = false;
};

// The arguments that the reader takes; all others stay in the file.
enum class Arg : std::uint8_t {
  correlation,
  bytes,
  device,
  stream,
  memory_bytes,
  address,
  device_id,
  device_type,
  total_allocated,
  total_reserved,
  name,
  labels,
};
inline constexpr std::size_t kArgCount = 12;

// One event, cut into tokens that point into its text. The fast and the tolerant scanner both make
// these, so what an event means is written in one place (chrome_rows).
struct Event {
  std::uint64_t source = 0;  // offset of its { in the content
  Token phase, name, category, time, duration, pid, tid, id;
  std::array<Token, kArgCount> args;  // those in `arg_bits` are valid
  std::uint32_t arg_bits = 0;
  std::vector<std::pair<Token, Token>> series;  // of a counter: every argument

  void clear(std::uint64_t at) {
    source = at;
    phase.is_present = name.is_present = category.is_present = time.is_present = false;
    duration.is_present = pid.is_present = tid.is_present = id.is_present = false;
    arg_bits = 0;
    series.clear();
  }
  char phase_letter() const {
    return phase.is_present && phase.text.size() == 1 ? phase.text[0] : '\0';
  }
  const Token* arg(Arg which) const {
    const auto at = static_cast<std::size_t>(which);
    return (arg_bits >> at & 1U) != 0 ? &args[at] : nullptr;
  }
  void set_arg(Arg which, const Token& token) {
    const auto at = static_cast<std::size_t>(which);
    args[at] = token;
    arg_bits |= 1U << at;
  }
};

// Where the value of `key` goes; nullptr for keys that nobody needs. A key that comes twice
// overwrites: the last wins.
inline Token* field_of(Event& event, std::string_view key) {
  switch (key.empty() ? '\0' : key[0]) {
    case 'p':
      return key == "ph" ? &event.phase : key == "pid" ? &event.pid : nullptr;
    case 't':
      return key == "tid" ? &event.tid : key == "ts" ? &event.time : nullptr;
    case 'c':
      return key == "cat" ? &event.category : nullptr;
    case 'd':
      return key == "dur" ? &event.duration : nullptr;
    case 'n':
      return key == "name" ? &event.name : nullptr;
    case 'i':
      return key == "id" ? &event.id : nullptr;
    default:
      return nullptr;
  }
}

// Stores an argument if it is one that is taken.
inline void take_arg(Event& event, std::string_view key, const Token& value) {
  const auto take = [&](std::string_view name, Arg which) {
    if (key == name) event.set_arg(which, value);
  };
  switch (key.empty() ? '\0' : key[0]) {
    case 'c':
      return take("correlation", Arg::correlation);
    case 'b':
      return take("bytes", Arg::bytes);
    case 'd':
      return take("device", Arg::device);
    case 's':
      return take("stream", Arg::stream);
    case 'n':
      return take("name", Arg::name);
    case 'l':
      return take("labels", Arg::labels);
    case 'A':
      return take("Addr", Arg::address);
    case 'B':
      return take("Bytes", Arg::memory_bytes);
    case 'D':
      take("Device Id", Arg::device_id);
      return take("Device Type", Arg::device_type);
    case 'T':
      take("Total Allocated", Arg::total_allocated);
      return take("Total Reserved", Arg::total_reserved);
    default:
      return;
  }
}

}  // namespace fathom::trace
