#include "trace/read/chrome/tolerant.h"

#include <algorithm>

#include "base/json_text.h"
#include "trace/read/number.h"

namespace fathom::trace {
namespace {

bool ends_scalar(char c) {
  return base::is_json_space(c) || c == ',' || c == '}' || c == ']' || c == ':' || c == '"' ||
         c == '{' || c == '[';
}

std::size_t after_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && base::is_json_space(text[at])) ++at;
  return at;
}

// Numbers that fit nowhere are judged where they are used; this is for those that nobody uses.
bool looks_like_scalar(std::string_view word) {
  if (word.empty()) return true;
  if (word == "true" || word == "false" || word == "null") return true;
  const char first = word[0] == '-' && word.size() > 1 ? word[1] : word[0];
  return first >= '0' && first <= '9';
}

}  // namespace

void TolerantScanner::skip_spaces() {
  position = after_spaces(text_, position);
}

// The next quote that is not escaped, or the end.
std::size_t TolerantScanner::find_quote(std::size_t from) const {
  while (from < text_.size()) {
    const std::size_t at = text_.find_first_of("\"\\", from);
    if (at == std::string_view::npos) return text_.size();
    if (text_[at] == '"') return at;
    from = at + 2;
  }
  return text_.size();
}

// Whether what follows a quote is what follows the end of a value: the end of the object, or a
// comma and another key. Text that ends here is cut off, and says nothing against it. Keys are not
// questioned: their quotes are the profiler's own.
bool TolerantScanner::is_proper_end(std::size_t after_quote, In where) const {
  const std::size_t at = after_spaces(text_, after_quote);
  if (at >= text_.size()) return true;
  const char c = text_[at];
  if (where == In::array) return c == ',' || c == ']';
  if (c == '}') return true;
  if (c != ',' && c != '"') return false;
  const std::size_t next = c == '"' ? at : after_spaces(text_, at + 1);  // or the comma is missing
  if (next >= text_.size() || text_[next] == '}' || text_[next] == ',') return true;
  if (text_[next] != '"') return false;
  const std::size_t end = find_quote(next + 1);
  const std::size_t colon = after_spaces(text_, std::min(end + 1, text_.size()));
  return colon >= text_.size() || text_[colon] == ':';
}

void TolerantScanner::check_string(std::string_view raw) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  const auto controls = std::count_if(raw.begin(), raw.end(), is_control);
  if (controls > 0) warn(WarningKind::control_character, static_cast<std::uint64_t>(controls));
  if (!base::is_utf8(raw)) warn(WarningKind::bad_utf8);
}

// Whether a quote opens the first key of another event: nothing before it belongs together with
// what comes after.
bool TolerantScanner::begins_event(std::size_t quote) const {
  std::size_t at = quote;
  for (const char expected : {'{', ',', '}'}) {
    while (at > 0 && base::is_json_space(text_[at - 1])) --at;
    if (at == 0 || text_[--at] != expected) return false;
  }
  return true;
}

// The quote that ends a value which the first quote does not seem to end; the first, where there is
// no better one.
std::size_t TolerantScanner::find_proper_end(std::size_t begin, std::size_t first, In where) {
  std::uint64_t inside = 0;
  std::size_t end = first;
  do {
    end = find_quote(end + 1);
    ++inside;
    if (end < text_.size() && begins_event(end)) return first;
  } while (end < text_.size() && !is_proper_end(end + 1, where));
  if (end < text_.size()) {
    warn(WarningKind::unescaped_quote, inside);
    return end;
  }
  no_proper_end_from_ = std::min(no_proper_end_from_, begin);
  return first;
}

Reading TolerantScanner::read_string(In where, std::string_view& raw) {
  const std::size_t begin = position + 1;
  std::size_t end = find_quote(begin);
  if (end >= text_.size()) return Reading::cut_off;
  if (where != In::object_key && begin < no_proper_end_from_ && !is_proper_end(end + 1, where)) {
    end = find_proper_end(begin, end, where);
  }
  raw = text_.substr(begin, end - begin);
  check_string(raw);
  position = end + 1;
  return Reading::ok;
}

Reading TolerantScanner::read_scalar(Token& token) {
  const std::size_t begin = position;
  std::size_t end = begin;
  while (end < text_.size() && !ends_scalar(text_[end])) ++end;
  if (end == begin) return Reading::wrong;
  if (end - begin > UINT32_MAX) return Reading::wrong;
  token = {text_.data() + begin, static_cast<std::uint32_t>(end - begin), false};
  if (end == text_.size()) return Reading::cut_off;
  position = end;
  return Reading::ok;
}

Reading TolerantScanner::read_key(std::string_view& key) {
  if (here() != '"') return Reading::wrong;
  if (const Reading read = read_string(In::object_key, key); read != Reading::ok) return read;
  skip_spaces();
  if (at_end()) return Reading::cut_off;
  if (here() != ':') return Reading::wrong;
  ++position;
  skip_spaces();
  return at_end() ? Reading::cut_off : Reading::ok;
}

Reading TolerantScanner::read_value(Token& token, bool in_array) {
  token = {};
  if (at_end()) return Reading::cut_off;
  if (here() == '{' || here() == '[') return read_nested(nullptr);
  if (here() != '"') return read_scalar(token);
  std::string_view raw;
  const Reading read = read_string(in_array ? In::array : In::object_value, raw);
  if (raw.size() > UINT32_MAX) return Reading::wrong;
  if (read == Reading::ok) token = {raw.data(), static_cast<std::uint32_t>(raw.size()), true};
  return read;
}

// The object or array here, however deep. Arguments directly in it go to `event`.
Reading TolerantScanner::read_nested(Event* event) {
  std::string open;            // brackets that wait for their end
  std::string_view array_key;  // of the array that is directly in it
  std::size_t array_begin = 0;
  bool needs_comma = false;
  bool after_comma = false;
  while (true) {
    skip_spaces();
    if (at_end()) return Reading::cut_off;
    const char c = here();
    if (c == '}' || c == ']') {
      if (after_comma) warn(WarningKind::bad_comma);
      after_comma = false;
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) return Reading::wrong;
      open.pop_back();
      ++position;
      if (open.empty()) return Reading::ok;
      if (event != nullptr && c == ']' && open == "{" && !array_key.empty()) {
        take_array(*event, [&](std::string_view name) { return array_key == name; }, array_key[0],
                   {text_.data() + array_begin, static_cast<std::uint32_t>(position - array_begin),
                    false});
      }
      needs_comma = true;
      continue;
    }
    if (c == ',') {
      if (!needs_comma) warn(WarningKind::bad_comma);
      needs_comma = false;
      after_comma = true;
      ++position;
      continue;
    }
    if (needs_comma) warn(WarningKind::bad_comma);
    after_comma = false;
    std::string_view key;
    if (!open.empty() && open.back() == '{') {
      if (const Reading read = read_key(key); read != Reading::ok) return read;
    }
    if (here() == '{' || here() == '[') {
      if (open == "{") {
        array_key = key;
        array_begin = position;
      }
      open += here();
      ++position;
      needs_comma = false;
      continue;
    }
    Token token;
    const Reading read = read_value(token, open.back() == '[');
    if (read != Reading::ok) return read;
    if (!token.is_quoted && !looks_like_scalar(token.text())) warn(WarningKind::bad_number);
    if (event != nullptr && open.size() == 1 && open.back() == '{') {
      take_arg(
          *event, [&](std::string_view name) { return key == name; }, key.empty() ? '\0' : key[0],
          token);
      event->series.push_back(
          {Token{key.data(), static_cast<std::uint32_t>(key.size()), true}, token});
    }
    needs_comma = true;
  }
}

Reading TolerantScanner::read_event(Event& event, std::string_view* args) {
  event.clear(byte());
  ++position;
  bool needs_comma = false;
  bool has_key = false;
  while (true) {
    skip_spaces();
    if (at_end()) return Reading::cut_off;
    if (here() == '}') {
      if (has_key && !needs_comma) warn(WarningKind::bad_comma);
      ++position;
      return has_key ? Reading::ok : Reading::empty;
    }
    if (here() == ',') {
      if (!needs_comma) warn(WarningKind::bad_comma);
      needs_comma = false;
      ++position;
      continue;
    }
    if (needs_comma) warn(WarningKind::bad_comma);
    std::string_view key;
    Reading read = read_key(key);
    if (read != Reading::ok) return read;
    Token value;
    if (key == "args" && here() == '{') {
      event.arg_bits = 0;
      event.series.clear();
      const std::size_t begin = position;
      read = read_nested(&event);
      if (args != nullptr) *args = text_.substr(begin, position - begin);
    } else {
      read = read_value(value);
      // Behind a key of two letters there are at least its quote and the colon.
      Token* const field = key.size() < 2 ? nullptr : field_of(event, key.data());
      if (field != nullptr && value.is_present()) *field = value;
      // Times are judged by whoever turns them into numbers.
      const bool is_time = field == &event.time || field == &event.duration;
      if (!is_time && value.is_present() && !value.is_quoted && !looks_like_scalar(value.text())) {
        warn(WarningKind::bad_number);
      }
    }
    if (read != Reading::ok) return read;
    has_key = needs_comma = true;
  }
}

void TolerantScanner::find_next_event() {
  // The end of one object, perhaps a comma, and the start of another that has a key.
  while (true) {
    const std::size_t open = text_.find('{', position);
    if (open == std::string_view::npos) {
      position = text_.size();
      return;
    }
    position = open;
    const std::size_t next = after_spaces(text_, open + 1);
    std::size_t before = open;
    const auto skip_back = [&] {
      while (before > 0 && base::is_json_space(text_[before - 1])) --before;
    };
    skip_back();
    if (before > 0 && text_[before - 1] == ',') --before;
    skip_back();
    const bool follows_object = before > 0 && text_[before - 1] == '}';
    if (follows_object && next < text_.size() && text_[next] == '"') return;
    position = open + 1;
  }
}

}  // namespace fathom::trace
