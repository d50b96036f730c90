#include "base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace fathom::base {
namespace {

bool wants_colour(std::FILE* stream) {
  const char* refused = std::getenv("NO_COLOR");
  return is_terminal(stream) && (refused == nullptr || *refused == '\0');
}

std::string styled(std::string_view code, std::string_view text, std::FILE* stream) {
  return wants_colour(stream) ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

// What COLUMNS asks for; 100 where it asks for nothing sensible.
std::size_t asked_width() {
  constexpr std::size_t kUsual = 100;
  const char* const asked = std::getenv("COLUMNS");
  if (asked == nullptr) return kUsual;
  const std::string_view text = asked;
  std::size_t columns = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool is_number = problem == std::errc() && end == text.data() + text.size();
  return is_number && columns >= 60 && columns <= 400 ? columns : kUsual;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) == 1;
}

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<std::size_t>(size.ws_col, 60, 160);
  }
  return asked_width();
}

std::string bold(std::string_view text, std::FILE* stream) {
  return styled("1", text, stream);
}
std::string dim(std::string_view text, std::FILE* stream) {
  return styled("2", text, stream);
}

}  // namespace fathom::base
