#include "trace/read/chrome/fast.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "trace/read/chrome/blocks.h"

// simdjson works in two stages. The first finds, with vector instructions, where each bracket,
// colon, comma, string and scalar begins, and checks UTF-8 and that strings end; its result is a
// list of offsets. The second walks that list. Here only the first is simdjson's; the walk is ours,
// as it knows which few of the values are needed, and reads numbers to nanoseconds exactly.

namespace fathom::trace {
namespace {

enum Class : std::uint8_t {
  open_brace,
  open_bracket,
  close_brace,
  close_bracket,
  colon,
  comma,
  quote,
  scalar,
  odd
};

constexpr std::array<Class, 256> make_classes() {
  std::array<Class, 256> classes{};
  classes.fill(odd);
  for (const char c : std::string_view("-0123456789tfn")) {
    classes[static_cast<unsigned char>(c)] = scalar;
  }
  classes['{'] = open_brace;
  classes['['] = open_bracket;
  classes['}'] = close_brace;
  classes[']'] = close_bracket;
  classes[':'] = colon;
  classes[','] = comma;
  classes['"'] = quote;
  return classes;
}
constexpr std::array<Class, 256> kClasses = make_classes();

constexpr std::array<std::int8_t, 9> kDepthChange = {1, 1, -1, -1, 0, 0, 0, 0, 0};

// A bit for each class that may follow.
constexpr unsigned bits(std::initializer_list<Class> classes) {
  unsigned all = 0;
  for (const Class one : classes) all |= 1U << one;
  return all;
}
constexpr unsigned kValue = bits({open_brace, open_bracket, quote, scalar});
constexpr unsigned kAfterValue = bits({comma, close_brace, close_bracket});
constexpr std::array<unsigned, 9> kMayFollow = {
    bits({quote, close_brace}),      // {
    kValue | bits({close_bracket}),  // [
    kAfterValue,
    kAfterValue,  // } ]
    kValue,
    kValue,                       // : ,
    kAfterValue | bits({colon}),  // "
    kAfterValue,                  // scalar
    0,                            // odd
};

// A position in the list of offsets. Functions that read something return the position behind it,
// nullptr where it is not as it should be. Offsets beyond the list point at the padding, which is
// no character of JSON, so every test against it fails and no walk runs away.
using Position = const std::uint32_t*;

Class class_at(const char* text, Position at) {
  return kClasses[static_cast<unsigned char>(text[*at])];
}

// The string at a position, given that the next in the list follows it.
inline Token string_at(const char* text, Position at) {
  const char* const first = text + at[0] + 1;
  const char* last = text + at[1] - 1;
  while (*last != '"') --last;
  return {first, static_cast<std::uint32_t>(last - first), true};
}

inline Token word_at(const char* text, Position at) {
  const char* const first = text + at[0];
  const char* last = text + at[1];
  while (static_cast<unsigned char>(last[-1]) <= ' ') --last;
  return {first, static_cast<std::uint32_t>(last - first), false};
}

// "-Infinity" begins like a number.
inline bool is_number_like(const char* text, Position at) {
  return text[*at] != '-' || static_cast<unsigned char>(text[*at + 1] - '0') < 10;
}

inline bool is_scalar(const char* text, Position at) {
  return class_at(text, at) == scalar && is_number_like(text, at);
}

// The object or array at a position. Checks what may follow what, not whether brackets are of the
// same kind: an event in which they are not falls apart sooner or later.
Position skip_nested(const char* text, Position at) {
  int depth = 0;
  unsigned allowed = kValue;
  unsigned ok = 1;
  do {
    const Class now = class_at(text, at);
    ok &= allowed >> now & static_cast<unsigned>(is_number_like(text, at));
    allowed = kMayFollow[now];
    depth += kDepthChange[now];
    ++at;
  } while (depth > 0 && ok != 0);
  return ok != 0 ? at : nullptr;
}

// The same, with its brackets, given the position behind it.
Token nested_at(const char* text, Position at, Position behind) {
  const char* const first = text + *at;
  return {first, static_cast<std::uint32_t>(text + behind[-1] + 1 - first), false};
}

[[gnu::always_inline]] inline bool read_token(const char* text, Position at, Token& token) {
  if (text[*at] == '"') {
    token = string_at(text, at);
    return true;
  }
  token = word_at(text, at);
  return is_scalar(text, at);
}

// The arguments taken of the object at a position; for a counter also all of them, as series. Most
// events of a trace are operations, of which only the shape is wanted, and most say none: then no
// value is looked at.
template <WantedArgs wanted>
Position read_args(const char* text, Position at, Event& event, bool with_series = false) {
  event.arg_bits = 0;
  ++at;
  if (text[*at] == '}') return at + 1;
  while (true) {
    if (text[at[0]] != '"' || text[at[1]] != ':') return nullptr;
    const char* const key = text + at[0] + 1;
    const char first = text[at[2]];
    const auto is = [&](std::string_view name) {
      return std::memcmp(key, name.data(), name.size()) == 0 && key[name.size()] == '"';
    };
    if (first == '{' || first == '[') {
      const Position value = at + 2;
      at = skip_nested(text, value);
      if (at == nullptr) return nullptr;
      if (first == '[') take_array(event, is, *key, nested_at(text, value, at));
    } else if constexpr (wanted == WantedArgs::shape) {
      if (first != '"' && !is_scalar(text, at + 2)) return nullptr;
      at += 3;
    } else {
      Token value;
      if (!read_token(text, at + 2, value)) return nullptr;
      take_arg(event, is, *key, value);
      if (with_series) event.series.push_back({string_at(text, at), value});
      at += 3;
    }
    const char next = text[*at++];
    if (next != ',') return next == '}' ? at : nullptr;
  }
}

Position read_event(const char* text, Position at, Event& event, EventRows& rows) {
  Position args = nullptr;
  ++at;
  while (true) {
    if (text[at[0]] != '"' || text[at[1]] != ':') return nullptr;
    const char* const key = text + at[0] + 1;
    const char first = text[at[2]];
    if (first == '{' || first == '[') {
      at += 2;
      const bool is_args = first == '{' && std::memcmp(key, "args\"", 5) == 0;
      if (is_args) {
        args = at;
        event.arg_bits = 0;
      }
      const WantedArgs wanted = is_args ? rows.wanted_args(event) : WantedArgs::none;
      at = wanted == WantedArgs::all     ? read_args<WantedArgs::all>(text, at, event)
           : wanted == WantedArgs::shape ? read_args<WantedArgs::shape>(text, at, event)
                                         : skip_nested(text, at);
      if (at == nullptr) return nullptr;
    } else {
      if (Token* const field = field_of(event, key)) {
        if (!read_token(text, at + 2, *field)) return nullptr;
      } else if (first != '"' && !is_scalar(text, at + 2)) {
        return nullptr;
      }
      at += 3;
    }
    const char next = text[*at++];
    if (next == '}') break;
    if (next != ',') return nullptr;
  }
  const bool is_counter = event.phase_letter() == 'C' && args != nullptr;
  if (is_counter && read_args<WantedArgs::all>(text, args, event, true) == nullptr) return nullptr;
  return at;
}

}  // namespace

struct FastScanner::Structure {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;

  // The list of offsets, ended by offsets of the padding; empty where simdjson objects.
  std::size_t find(std::string_view text) {
    if (parser == nullptr || parser->capacity() < text.size()) {
      parser = nullptr;
      // Blocks of the usual size differ a little; of others there is one at a time.
      const std::size_t more = text.size() <= kUsualBlockBytes ? text.size() / 8 : 0;
      const std::size_t capacity = std::max<std::size_t>(text.size() + more, 1 << 16);
      if (simdjson::get_active_implementation()->create_dom_parser_implementation(
              capacity, 1, parser) != simdjson::SUCCESS) {
        return 0;
      }
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    if (parser->stage1(bytes, text.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
      return 0;
    }
    std::uint32_t* const offsets = parser->structural_indexes.get();
    const std::size_t count = parser->n_structural_indexes;
    const auto size = static_cast<std::uint32_t>(text.size());
    for (std::size_t i = 0; i < 3; ++i) offsets[count + i] = size;
    return count;
  }
};

FastScanner::FastScanner() : structure_(std::make_unique<Structure>()) {}
FastScanner::~FastScanner() = default;

void FastScanner::let_go() {
  structure_->parser = nullptr;
}

FastStop FastScanner::scan(std::string_view text, std::uint64_t base, bool is_lines,
                           EventRows& rows) {
  const std::size_t count = text.empty() ? 0 : structure_->find(text);
  if (count == 0) return {};
  const std::uint32_t* const offsets = structure_->parser->structural_indexes.get();
  Position at = offsets;
  const char* const bytes = text.data();
  while (bytes[*at] == '{') {
    const std::size_t begin = *at;
    event_.clear(base + begin);
    at = read_event(bytes, at, event_, rows);
    if (at == nullptr) return {begin, false};
    rows.take(event_);
    const std::size_t after = *at;
    if (bytes[*at] == ',') {
      ++at;
    } else if (!is_lines) {
      return {after, true};
    }
    if (bytes[*at] != '{') return {after, true};
  }
  return {};
}

}  // namespace fathom::trace
