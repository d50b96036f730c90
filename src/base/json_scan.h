#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fathom::base {

// Walks JSON text value by value and hands out each as it is written, so that numbers keep their
// digits. Needs no index and no padding: it reads one event's arguments out of a large file, and
// the start of a document that is cut off. Depth costs a byte a level, no stack.
class JsonScanner {
 public:
  // Lenient: takes NaN and Infinity for values, and strings with raw control characters or bytes
  // that are not UTF-8.
  enum class Mode : bool { strict, lenient };

  explicit JsonScanner(std::string_view text, Mode mode = Mode::strict, std::size_t at = 0)
      : text_(text), at_(at), mode_(mode) {}

  // The next character that is not space; 0 at the end.
  char peek();
  // Goes past `c` if it comes next.
  bool take(char c);
  // What is between the quotes of the string that comes next, escapes and all.
  std::optional<std::string_view> string();
  // The text of the value that comes next, whatever it is.
  std::optional<std::string_view> value();
  // The key of the next member of an object, past its colon.
  std::optional<std::string_view> key();

  std::size_t position() const { return at_; }
  // Whether the text stops here: nothing is left, but perhaps the beginning of a word or number.
  bool is_cut_off();

 private:
  bool scalar();
  bool number();
  bool word(std::string_view word);
  bool digits();

  std::string_view text_;
  std::size_t at_;
  Mode mode_;
  std::string closers_;
};

// Calls `each(key, value)` for the members of a JSON object's text; key and value as written. False
// where the text is not an object that is right to its end; members before the fault were handed
// out.
template <typename Each>
bool for_each_member(std::string_view object, JsonScanner::Mode mode, Each each) {
  JsonScanner scan(object, mode);
  if (!scan.take('{')) return false;
  if (!scan.take('}')) {
    do {
      const auto key = scan.key();
      if (!key) return false;
      const auto value = scan.value();
      if (!value) return false;
      each(*key, *value);
    } while (scan.take(','));
    if (!scan.take('}')) return false;
  }
  return scan.peek() == 0;
}

// Whether the text is one JSON value, and nothing else.
bool is_json(std::string_view text);

// The text that stands between the quotes of a JSON string; escapes that are none stay as they are.
std::string unescaped(std::string_view written);

// The text of a value that is a string, as written with its quotes; nothing of other values.
std::optional<std::string> text_of(std::string_view value);

// The number a value's text is; nothing where it is something else.
std::optional<double> real_of(std::string_view value);
std::optional<std::int64_t> integer_of(std::string_view value);

}  // namespace fathom::base
