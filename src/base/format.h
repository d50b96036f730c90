#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::base {

// Figures as people read them: "238.3 ms", "1,616", "31.6 %", "16 GB". web/src/format.ts writes the
// same; tests/base/figures.json holds both to it. A KB is 1024 bytes, as in fathom/figures.h.
std::string format_duration(double ns);
std::string format_duration(std::integral auto ns) {
  return format_duration(static_cast<double>(ns));
}
std::string format_count(std::uint64_t count);
std::string format_decimal(double value, int places);  // "1,234.5"
std::string format_percent(double percent);
std::string format_bytes(double bytes);
std::string format_bytes(std::integral auto bytes) {
  return format_bytes(static_cast<double>(bytes));
}

// "1 event", "3 events".
std::string format_plural(std::uint64_t count, std::string_view singular, std::string_view plural);

// Columns that UTF-8 text takes on a terminal; and the text cut to `columns`, ending in "…" if cut.
// What no terminal should be shown is replaced (printable.h).
std::size_t display_width(std::string_view text);
std::string fit(std::string_view text, std::size_t columns);

// The same for a name with a qualifier, " · " between them: the name is cut first, and never to
// fewer than 12 columns.
std::string fit_qualified(std::string_view text, std::size_t columns);

}  // namespace fathom::base
