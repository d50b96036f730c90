#include "trace/write/decimal.h"

#include <fmt/format.h>

#include <iterator>

namespace fathom::trace {

void append_scaled(std::string& out, std::int64_t number, int places) {
  std::uint64_t scale = 1;
  for (int i = 0; i < places; ++i) scale *= 10;
  const auto bits = static_cast<std::uint64_t>(number);
  const std::uint64_t size = number < 0 ? 0 - bits : bits;
  if (number < 0) out += '-';
  fmt::format_to(std::back_inserter(out), "{}", size / scale);
  if (size % scale == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:0{}}", size % scale, places);
  while (out.back() == '0') out.pop_back();
}

}  // namespace fathom::trace
