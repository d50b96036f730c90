#include "trace/json_scan.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/json_writer.h"

namespace fathom::trace {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<unsigned> hex4(std::string_view text) {
  unsigned code = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  return code;
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// Appends what \uXXXX at the start of `text` stands for, both halves of a pair; returns its length,
// 0 where it stands for nothing.
std::size_t append_unicode_escape(std::string& out, std::string_view text) {
  const auto high = hex4(text.substr(2));
  if (!high) return 0;
  if (*high < 0xD800 || *high > 0xDFFF) {
    append_utf8(out, *high);
    return 6;
  }
  if (*high > 0xDBFF || text.size() < 12 || text.substr(6, 2) != "\\u") return 0;
  const auto low = hex4(text.substr(8));
  if (!low || *low < 0xDC00 || *low > 0xDFFF) return 0;
  append_utf8(out, 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
  return 12;
}

// Length of the escape at the start of `text`; 0 where it is none. A surrogate without its other
// half is none.
std::size_t escape_length(std::string_view text) {
  std::string ignored;
  if (text[1] == 'u') return append_unicode_escape(ignored, text);
  return std::string_view("\"\\/bfnrt").find(text[1]) == std::string_view::npos ? 0 : 2;
}

}  // namespace

char JsonScanner::peek() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
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

std::string unescape(std::string_view written) {
  std::string out;
  out.reserve(written.size());
  while (!written.empty()) {
    const std::size_t plain = std::min(written.find('\\'), written.size());
    out.append(written.substr(0, plain));
    written.remove_prefix(plain);
    if (written.size() < 2) break;
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    std::size_t length = 2;
    if (const auto at = kLetters.find(written[1]); at != std::string_view::npos) {
      out += kMeanings[at];
    } else if (written[1] == 'u') {
      length = append_unicode_escape(out, written);
    } else {
      length = 0;
    }
    if (length == 0) out += written[0];
    written.remove_prefix(length == 0 ? 1 : length);
  }
  out.append(written);
  return out;
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

}  // namespace fathom::trace
