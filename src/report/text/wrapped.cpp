#include "report/text/wrapped.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.h"
#include "base/printable.h"

namespace fathom::report {
namespace {

// "%", "ms)." and the like.
bool begins_with_unit(std::string_view text) {
  constexpr std::array<std::string_view, 9> kUnits = {"%",  "ns", "µs", "ms", "s",
                                                      "KB", "MB", "GB", "TB"};
  const std::string_view word = text.substr(0, text.find_first_of(" ,.;:)"));
  return std::ranges::find(kUnits, word) != kUnits.end();
}

// Behind the word at `at`, and behind its unit if it is a figure that has one.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find(' ', at), text.size());
  const bool is_figure = end > at && text[end - 1] >= '0' && text[end - 1] <= '9';
  if (!is_figure || end == text.size() || !begins_with_unit(text.substr(end + 1))) return end;
  return std::min(text.find(' ', end + 1), text.size());
}

}  // namespace

std::string wrapped(const std::string& raw, const std::string& first, std::size_t width) {
  const std::string text = base::printable(raw);  // what it names may hold line breaks of its own
  const std::size_t indent = base::display_width(first);
  std::string out = first;
  std::size_t column = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_word(text, at);
    const std::string word = text.substr(at, end - at);
    const std::size_t length = base::display_width(word);
    if (column > indent && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
    at = end + 1;
  }
  return out + "\n";
}

}  // namespace fathom::report
