#include "serve/target.h"

#include <algorithm>
#include <cctype>

#include "base/json_scan.h"
#include "base/json_text.h"

namespace fathom::serve {
namespace {

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return {};
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

enum class Plus : bool { is_itself, is_space };

std::optional<std::string> decoded(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return {};
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (!high || !low) return {};
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    } else if (c == '+' && plus == Plus::is_space) {
      c = ' ';
    }
    if (is_control(c)) return {};
    out += c;
  }
  return out;
}

// Hands out what stands between separators.
template <typename Each>
bool for_each_part(std::string_view text, char separator, Each each) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!each(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool parse_query(std::string_view text, Target& target) {
  return for_each_part(text, '&', [&](std::string_view pair) {
    if (pair.empty()) return true;
    const std::size_t equals = pair.find('=');
    auto name = decoded(pair.substr(0, equals), Plus::is_space);
    auto value = equals == std::string_view::npos
                     ? std::optional<std::string>("")
                     : decoded(pair.substr(equals + 1), Plus::is_space);
    if (!name || !value) return false;
    target.query.emplace_back(std::move(*name), std::move(*value));
    return true;
  });
}

}  // namespace

std::optional<std::string> Target::value(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : query) {
    if (key != name) continue;
    if (found) return {};
    found = value;
  }
  return found;
}

std::optional<Target> parse_target(std::string_view text) {
  Target target;
  if (text.empty() || text.front() != '/') return {};
  const std::size_t question = text.find('?');
  const std::string_view path =
      text.substr(1, question == std::string_view::npos ? std::string_view::npos : question - 1);
  const bool is_path = for_each_part(path, '/', [&](std::string_view part) {
    auto segment = decoded(part, Plus::is_itself);
    if (!segment || !base::is_utf8(*segment)) return false;
    target.segments.push_back(std::move(*segment));
    return true;
  });
  if (!is_path) return {};
  if (question != std::string_view::npos && !parse_query(text.substr(question + 1), target))
    return {};
  return target;
}

std::string_view cookie_value(std::string_view header, std::string_view name) {
  std::string_view found;
  std::size_t times = 0;
  for_each_part(header, ';', [&](std::string_view part) {
    part = without_spaces(part);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == name) {
      found = part.substr(equals + 1);
      ++times;
    }
    return true;
  });
  return times == 1 ? found : std::string_view();
}

std::string_view bearer_token(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() <= kScheme.size()) return {};
  const bool is_bearer = std::equal(kScheme.begin(), kScheme.end(), header.begin(),
                                    [](char a, char b) { return a == std::tolower(b); });
  return is_bearer ? without_spaces(header.substr(kScheme.size())) : std::string_view();
}

}  // namespace fathom::serve
