#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::trace {

// A value as it is written: the characters of a number or word, or what is between the quotes of a
// string, escapes and all.
struct Token {
  const char* begin = nullptr;
  std::uint32_t size = 0;
  bool is_quoted = false;

  Token() = default;
  Token(const char* first, std::uint32_t length, bool quoted)
      : begin(first), size(length), is_quoted(quoted) {}
  // Member by member, each as it was stored. The 13 bytes as two words, as compilers copy them,
  // would be read across members that are still on their way to the cache: a stall for every token.
  Token(const Token& other) : begin(other.begin), size(other.size), is_quoted(other.is_quoted) {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): plain values may be copied onto themselves
  Token& operator=(const Token& other) {
    begin = other.begin;
    size = other.size;
    is_quoted = other.is_quoted;
    return *this;
  }
  ~Token() = default;

  bool is_present() const { return begin != nullptr; }
  bool is_null() const { return !is_present() || (!is_quoted && text() == "null"); }
  std::string_view text() const { return is_present() ? std::string_view(begin, size) : ""; }
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
  handle,
  site,
  grid,  // arrays, as they are written
  block,
  operand_shapes,
};
inline constexpr std::size_t kArgCount = 17;

// One event, cut into tokens that point into its text. The fast and the tolerant scanner both make
// these, so what an event means is written in one place (rows.cpp).
struct Event {
  std::uint64_t source = 0;  // offset of its { in the content
  Token phase, name, category, time, duration, pid, tid, id;
  std::array<Token, kArgCount> args;  // those in `arg_bits` are valid
  std::uint32_t arg_bits = 0;
  std::vector<std::pair<Token, Token>> series;  // of a counter: every argument

  void clear(std::uint64_t at) {
    source = at;
    phase.begin = name.begin = category.begin = time.begin = nullptr;
    duration.begin = pid.begin = tid.begin = id.begin = nullptr;
    arg_bits = 0;
    series.clear();
  }
  char phase_letter() const { return phase.is_present() && phase.size == 1 ? *phase.begin : '\0'; }
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

// Four characters as a number that a switch can tell apart.
constexpr std::uint32_t letters(std::array<char, 4> four) {
  return std::bit_cast<std::uint32_t>(four);
}

// Where the value of a key goes; nullptr for keys that nobody needs. `key` points behind the
// opening quote, and four characters can be read there. A key that comes twice overwrites: the last
// wins.
inline Token* field_of(Event& event, const char* key) {
  std::uint32_t word = 0;
  std::memcpy(&word, key, 4);
  switch (word) {
    case letters({'c', 'a', 't', '"'}):
      return &event.category;
    case letters({'d', 'u', 'r', '"'}):
      return &event.duration;
    case letters({'p', 'i', 'd', '"'}):
      return &event.pid;
    case letters({'t', 'i', 'd', '"'}):
      return &event.tid;
    case letters({'n', 'a', 'm', 'e'}):
      return key[4] == '"' ? &event.name : nullptr;
    default:
      break;
  }
  constexpr std::uint32_t kFirstThree = letters({'\xFF', '\xFF', '\xFF', 0});
  switch (word & kFirstThree) {
    case letters({'p', 'h', '"', 0}):
      return &event.phase;
    case letters({'t', 's', '"', 0}):
      return &event.time;
    case letters({'i', 'd', '"', 0}):
      return &event.id;
    default:
      return nullptr;
  }
}

// Stores an argument if it is one that is taken; key(name) tells whether it has that name.
template <typename Key>
inline void take_arg(Event& event, const Key& key, char first_letter, const Token& value) {
  const auto take = [&](std::string_view name, Arg which) {
    if (key(name)) event.set_arg(which, value);
  };
  switch (first_letter) {
    case 'c':
      return take("correlation", Arg::correlation);
    case 'b':
      take("by", Arg::site);
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
    case 'H':
      return take("Handle", Arg::handle);
    case 'T':
      take("Total Allocated", Arg::total_allocated);
      return take("Total Reserved", Arg::total_reserved);
    default:
      return;
  }
}

// The same for an argument that is an array.
template <typename Key>
inline void take_array(Event& event, const Key& key, char first_letter, const Token& value) {
  const auto take = [&](std::string_view name, Arg which) {
    if (key(name)) event.set_arg(which, value);
  };
  switch (first_letter) {
    case 'g':
      return take("grid", Arg::grid);
    case 'b':
      return take("block", Arg::block);
    case 'I':
      take("Input Dims", Arg::operand_shapes);
      return take("Input dims", Arg::operand_shapes);  // as in 2021
    default:
      return;
  }
}

}  // namespace fathom::trace
