#include "base/json_scan.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/json_text.h"
#include "base/json_writer.h"

namespace fathom::base {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Length of the escape at the start of `text`; 0 where it is none. A surrogate without its other
// half is none.
std::size_t escape_length(std::string_view text) {
  if (text[1] != 'u') {
    return std::string_view("\"\\/bfnrt").find(text[1]) == std::string_view::npos ? 0 : 2;
  }
  const auto code = hex4(text.substr(2));
  if (!code) return 0;
  if (*code < 0xD800 || *code > 0xDFFF) return 6;
  if (*code > 0xDBFF || text.substr(6, 2) != "\\u") return 0;
  const auto low = hex4(text.substr(8));
  return low && *low >= 0xDC00 && *low <= 0xDFFF ? 12 : 0;
}

}  // namespace

char JsonScanner::peek() {
  while (at_ < text_.size() && is_json_space(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::take(char c) {
  if (peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::is_cut_off() {
  if (peek() == '\0') return at_ == text_.size();
  return std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '+';
  });
}

std::optional<std::string_view> JsonScanner::string() {
  if (!take('"')) return std::nullopt;
  const std::size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') return text_.substr(begin, at_++ - begin);
    if (c == '\\') {
      if (at_ + 1 >= text_.size()) return std::nullopt;
      const std::size_t length = escape_length(text_.substr(at_));
      if (length == 0 && mode_ == Mode::strict) return std::nullopt;
      at_ += length == 0 ? 2 : length;
    } else if (mode_ == Mode::lenient || (c >= 0x20 && c < 0x7F)) {
      ++at_;
    } else {
      const std::size_t length = base::utf8_length(text_.substr(at_));
      if (length == 0 || (c >= 0 && c < 0x20)) return std::nullopt;
      at_ += length;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> JsonScanner::key() {
  const auto key = string();
  if (!key || !take(':')) return std::nullopt;
  return key;
}

bool JsonScanner::word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool JsonScanner::digits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return at_ > begin;
}

bool JsonScanner::number() {
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  if (mode_ == Mode::lenient && word("Infinity")) return true;
  const bool leads_with_zero = at_ < text_.size() && text_[at_] == '0';
  const std::size_t begin = at_;
  if (!digits() || (leads_with_zero && at_ - begin > 1)) return false;
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    if (!digits()) return false;
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    if (!digits()) return false;
  }
  return true;
}

bool JsonScanner::scalar() {
  switch (peek()) {
    case '"':
      return string().has_value();
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null") || (mode_ == Mode::lenient && word("nan"));
    case 'N':
      return mode_ == Mode::lenient && word("NaN");
    default:
      return number();
  }
}

std::optional<std::string_view> JsonScanner::value() {
  peek();
  const std::size_t begin = at_;
  closers_.clear();
  do {
    bool is_whole = true;
    if (take('{')) {
      closers_ += '}';
      is_whole = peek() == '}';
      if (!is_whole && !key()) return std::nullopt;
    } else if (take('[')) {
      closers_ += ']';
      is_whole = peek() == ']';
    } else if (!scalar()) {
      return std::nullopt;
    }
    // A value has ended here, and with it perhaps those around it.
    while (is_whole && !closers_.empty()) {
      if (take(',')) {
        if (closers_.back() == '}' && !key()) return std::nullopt;
        break;
      }
      if (!take(closers_.back())) return std::nullopt;
      closers_.pop_back();
    }
  } while (!closers_.empty());
  return text_.substr(begin, at_ - begin);
}

bool is_json(std::string_view text) {
  JsonScanner scan(text);
  return scan.value().has_value() && scan.peek() == 0;
}

std::string unescaped(std::string_view written) {
  std::string out;
  unescape(written, out);
  return out;
}

std::optional<std::string> text_of(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  return unescaped(value.substr(1, value.size() - 2));
}

std::optional<double> real_of(std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = !value.empty() && (is_digit(value[0]) || value[0] == '-');
  if (!is_number || error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> integer_of(std::string_view value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

}  // namespace fathom::base
