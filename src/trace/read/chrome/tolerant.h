#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/read/chrome/event.h"
#include "trace/warnings.h"

namespace fathom::trace {

enum class Reading : std::uint8_t {
  ok,
  empty,    // {}
  wrong,    // not readable; `position` is where it stopped making sense
  cut_off,  // the text ends inside
};

// Reads JSON as it is found in the wild, one event or value at a time: unescaped quotes, raw
// control characters, stray commas, NaN. Each repair is counted. Never recurses, and looks at each
// character a bounded number of times.
class TolerantScanner {
 public:
  // `base` is the offset of `text` in the content; warnings name bytes there.
  TolerantScanner(std::string_view text, std::uint64_t base, Warnings& warnings)
      : text_(text), base_(base), warnings_(warnings) {}

  std::size_t position = 0;

  std::string_view text() const { return text_; }
  bool at_end() const { return position >= text_.size(); }
  char here() const { return at_end() ? '\0' : text_[position]; }
  std::uint64_t byte() const { return base_ + position; }
  void skip_spaces();
  void warn(WarningKind kind, std::uint64_t count = 1) { warnings_.add(kind, byte(), count); }

  // The object at `position`. `args`, where given, gets the text of its "args" value.
  Reading read_event(Event& event, std::string_view* args = nullptr);

  // "key": of an object.
  Reading read_key(std::string_view& key);

  // Any value; `token` is present where it is a string or a scalar.
  Reading read_value(Token& token, bool in_array = false);

  // Moves to the next place behind `position` that looks like the start of an event, or the end.
  void find_next_event();

 private:
  enum class In : std::uint8_t { object_key, object_value, array };

  Reading read_string(In where, std::string_view& raw);
  Reading read_scalar(Token& token);
  Reading read_nested(Event* event);
  std::size_t find_quote(std::size_t from) const;
  std::size_t find_proper_end(std::size_t begin, std::size_t first, In where);
  bool begins_event(std::size_t quote) const;
  bool is_proper_end(std::size_t after_quote, In where) const;
  void check_string(std::string_view raw);

  std::string_view text_;
  std::uint64_t base_;
  Warnings& warnings_;
  std::size_t no_proper_end_from_ = SIZE_MAX;  // no string ends properly from here on
};

}  // namespace fathom::trace
