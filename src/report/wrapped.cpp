#include "report/wrapped.h"

#include "base/format.h"

namespace fathom::report {

std::string wrapped(const std::string& text, const std::string& first, std::size_t width) {
  const std::size_t indent = base::display_width(first);
  std::string out = first;
  std::size_t column = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
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
