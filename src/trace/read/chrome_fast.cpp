#include "trace/read/chrome_fast.h"

#include <simdjson.h>

#include <algorithm>
#include <array>

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

// A position in the list of offsets. Offsets beyond the list point at the padding, which is no
// character of JSON, so every test against it fails and no walk runs away.
struct Walk {
  const char* text;
  const std::uint32_t* at;

  char here() const { return text[*at]; }
  Class here_class() const { return kClasses[static_cast<unsigned char>(here())]; }

  // What is between the quotes of the string here, given that the next in the list follows it.
  std::string_view string() const {
    const char* const first = text + at[0] + 1;
    const char* last = text + at[1] - 1;
    while (*last != '"') --last;
    return {first, static_cast<std::size_t>(last - first)};
  }
  std::string_view word() const {
    const char* const first = text + at[0];
    const char* last = text + at[1];
    while (static_cast<unsigned char>(last[-1]) <= ' ') --last;
    return {first, static_cast<std::size_t>(last - first)};
  }
  // "-Infinity" begins like a number.
  bool is_number_like() const {
    return here() != '-' || static_cast<unsigned char>(text[*at + 1] - '0') < 10;
  }
};

// Moves past the object or array here. Checks what may follow what, not whether brackets are of the
// same kind: an event in which they are not falls apart sooner or later.
bool skip_nested(Walk& walk) {
  int depth = 0;
  unsigned allowed = kValue;
  unsigned ok = 1;
  do {
    const Class now = walk.here_class();
    ok &= allowed >> now & static_cast<unsigned>(walk.is_number_like());
    allowed = kMayFollow[now];
    depth += kDepthChange[now];
    ++walk.at;
  } while (depth > 0 && ok != 0);
  return ok != 0;
}

// Reads the string or scalar here and moves past it.
[[gnu::always_inline]] inline bool read_token(Walk& walk, Token& token) {
  const Class now = walk.here_class();
  if (now == quote) {
    token = {walk.string(), true, true};
  } else if (now == scalar && walk.is_number_like()) {
    token = {walk.word(), true, false};
  } else {
    return false;
  }
  ++walk.at;
  return true;
}

[[gnu::always_inline]] inline bool skip_token(Walk& walk) {
  const Class now = walk.here_class();
  ++walk.at;
  return now == quote || (now == scalar && Walk{walk.text, walk.at - 1}.is_number_like());
}

// Reads "key": and moves past it.
[[gnu::always_inline]] inline bool read_key(Walk& walk, std::string_view& key) {
  if (walk.here() != '"' || walk.text[walk.at[1]] != ':') return false;
  key = walk.string();
  walk.at += 2;
  return true;
}

// After a value: a comma means another is to come.
enum class Next : std::uint8_t { more, end, wrong };
[[gnu::always_inline]] inline Next read_separator(Walk& walk) {
  const char c = walk.here();
  ++walk.at;
  return c == ',' ? Next::more : c == '}' ? Next::end : Next::wrong;
}

bool read_args(Walk& walk, Event& event, bool with_series) {
  event.arg_bits = 0;
  ++walk.at;
  if (walk.here() == '}') {
    ++walk.at;
    return true;
  }
  while (true) {
    std::string_view key;
    if (!read_key(walk, key)) return false;
    const Class now = walk.here_class();
    if (now == open_brace || now == open_bracket) {
      if (!skip_nested(walk)) return false;
    } else {
      Token value;
      if (!read_token(walk, value)) return false;
      take_arg(event, key, value);
      if (with_series) event.series.push_back({Token{key, true, true}, value});
    }
    const Next next = read_separator(walk);
    if (next != Next::more) return next == Next::end;
  }
}

bool read_nested(Walk& walk, std::string_view key, Event& event, EventRows& rows,
                 const std::uint32_t*& args) {
  if (key == "args" && walk.here() == '{') {
    args = walk.at;
    if (rows.wants_args(event)) return read_args(walk, event, false);
    event.arg_bits = 0;
  }
  return skip_nested(walk);
}

// Reads the event here and moves past it.
bool read_event(Walk& walk, Event& event, EventRows& rows) {
  const std::uint32_t* args = nullptr;
  ++walk.at;
  while (true) {
    std::string_view key;
    if (!read_key(walk, key)) return false;
    const Class now = walk.here_class();
    if (now == open_brace || now == open_bracket) {
      if (!read_nested(walk, key, event, rows, args)) return false;
    } else if (Token* field = field_of(event, key)) {
      if (!read_token(walk, *field)) return false;
    } else if (!skip_token(walk)) {
      return false;
    }
    const Next next = read_separator(walk);
    if (next == Next::wrong) return false;
    if (next == Next::end) break;
  }
  if (event.phase_letter() == 'C' && args != nullptr) {
    Walk again{walk.text, args};
    return read_args(again, event, true);
  }
  return true;
}

}  // namespace

struct FastScanner::Structure {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;

  // The list of offsets, ended by offsets of the padding; empty where simdjson objects.
  std::size_t find(std::string_view text) {
    if (parser == nullptr || parser->capacity() < text.size()) {
      parser = nullptr;
      const std::size_t capacity = std::max<std::size_t>(text.size() + text.size() / 8, 1 << 16);
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

FastStop FastScanner::scan(std::string_view text, std::uint64_t base, bool is_lines,
                           EventRows& rows) {
  const std::size_t count = text.empty() ? 0 : structure_->find(text);
  if (count == 0) return {};
  const std::uint32_t* const offsets = structure_->parser->structural_indexes.get();
  Walk walk{text.data(), offsets};
  while (walk.here() == '{') {
    const std::size_t begin = *walk.at;
    event_.clear(base + begin);
    if (!read_event(walk, event_, rows)) return {begin, false};
    rows.take(event_);
    const std::size_t after = *walk.at;
    if (walk.here() == ',') {
      ++walk.at;
    } else if (!is_lines) {
      return {after, true};
    }
    if (walk.here() != '{') return {after, true};
  }
  return {};
}

}  // namespace fathom::trace
