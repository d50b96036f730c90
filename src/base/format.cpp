#include "base/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/printable.h"
#include "fathom/figures.h"

namespace fathom::base {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

// At most four digits before the point, one after it where it says something.
std::string scaled(double value, std::string_view unit) {
  const int digits =
      std::abs(value) < 999.95 && std::abs(value) != std::floor(std::abs(value)) ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, unit);
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

std::string format_duration(double ns) {
  static constexpr std::array<Unit, 3> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}}};
  for (const Unit& unit : kUnits) {
    if (std::abs(ns) >= unit.size * 0.99995) {
      return unit.size == 1e9 ? fmt::format("{:.2f} s", ns / 1e9)
                              : fmt::format("{:.1f} {}", ns / unit.size, unit.name);
    }
  }
  return scaled(ns, "ns");
}

std::string format_bytes(double bytes) {
  static constexpr std::array<Unit, 4> kUnits = {{{kBytesPerMb * kBytesPerMb, "TB"},
                                                  {kBytesPerMb * 1024, "GB"},
                                                  {kBytesPerMb, "MB"},
                                                  {1024, "KB"}}};
  for (const Unit& unit : kUnits) {
    if (std::abs(bytes) >= unit.size) return scaled(bytes / unit.size, unit.name);
  }
  return fmt::format("{:.0f} B", bytes);
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string format_decimal(double value, int places) {
  std::string text = fmt::format("{:.{}f}", value, places);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = std::min(text.find('.'), text.size()); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string format_percent(double percent) {
  return format_decimal(percent, 1) + " %";
}

std::string format_plural(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", format_count(count), count == 1 ? singular : plural);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += is_continuation(c) ? 0 : 1;
  return width;
}

std::string fit_qualified(std::string_view text, std::size_t columns) {
  constexpr std::string_view kBetween = " · ";
  constexpr std::size_t kLeastName = 12;
  const std::size_t end = text.find(kBetween);
  if (display_width(text) <= columns || end == std::string_view::npos) return fit(text, columns);
  const std::string_view qualifier = text.substr(end);
  const std::size_t needed = display_width(qualifier);
  const std::size_t name = std::max(columns > needed ? columns - needed : 0, kLeastName);
  return fit(fit(text.substr(0, end), name) + std::string(qualifier), columns);
}

std::string fit(std::string_view raw, std::size_t columns) {
  const std::string text = printable(raw);
  const bool cut = display_width(text) > columns;
  const std::size_t keep = cut && columns > 0 ? columns - 1 : columns;
  std::string out;
  std::size_t width = 0;
  for (const char c : text) {
    if (!is_continuation(c) && ++width > keep) break;
    out += c;
  }
  if (cut && columns > 0) out += "…";
  return out;
}

}  // namespace fathom::base
