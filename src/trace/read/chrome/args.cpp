#include "trace/read/chrome/args.h"

#include "base/json_text.h"
#include "base/json_writer.h"
#include "trace/read/chrome/tolerant.h"
#include "trace/read/number.h"

namespace fathom::trace {
namespace {

bool is_json_number(std::string_view word) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < word.size() && number::is_digit(word[at])) ++at;
    return at > from;
  };
  if (at < word.size() && word[at] == '-') ++at;
  if (at < word.size() && word[at] == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < word.size() && word[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '-' || word[at] == '+')) ++at;
    if (!digits()) return false;
  }
  return at == word.size();
}

void append(std::string& out, const Token& token) {
  if (token.is_quoted) {
    std::string text;
    base::unescape(token.text(), text);
    base::append_json_string(out, text);
  } else if (is_json_number(token.text()) || token.text() == "true" || token.text() == "false") {
    out += token.text();
  } else {
    out += "null";
  }
}

}  // namespace

std::string repair_json(std::string_view text) {
  std::string out;
  Warnings ignored;
  TolerantScanner scan(text, 0, ignored);
  std::string open;
  const auto separate = [&] {
    if (!out.empty() && out.back() != '{' && out.back() != '[' && out.back() != ':') out += ',';
  };
  while (true) {
    scan.skip_spaces();
    const char c = scan.here();
    if (scan.at_end()) break;
    if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) break;
      open.pop_back();
      out += c;
      ++scan.position;
    } else if (c == ',') {
      ++scan.position;
      continue;
    } else {
      separate();
      std::string_view key;
      if (!open.empty() && open.back() == '{') {
        if (scan.read_key(key) != Reading::ok) {
          if (!out.empty() && out.back() == ',') out.pop_back();
          break;
        }
        append(out, {key.data(), static_cast<std::uint32_t>(key.size()), true});
        out += ':';
      }
      if (scan.here() == '{' || scan.here() == '[') {
        open += scan.here();
        out += scan.here();
        ++scan.position;
        continue;
      }
      Token token;
      const Reading read = scan.read_value(token, !open.empty() && open.back() == '[');
      if (token.is_present()) {
        append(out, token);
      } else {
        out += "null";
      }
      if (read != Reading::ok) break;
    }
    if (open.empty()) break;
  }
  while (!open.empty()) {
    out += open.back() == '{' ? '}' : ']';
    open.pop_back();
  }
  return out;
}

std::string args_of_event(std::string_view text) {
  if (text.empty() || text[0] != '{') return {};
  Warnings ignored;
  TolerantScanner scan(text, 0, ignored);
  Event event;
  std::string_view args;
  scan.read_event(event, &args);
  return args.empty() ? std::string() : repair_json(args);
}

}  // namespace fathom::trace
