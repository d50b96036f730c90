#include "trace/shape.h"

#include <fmt/format.h>

namespace fathom::trace {
namespace {

bool is_part_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '-';
}

}  // namespace

void append_shapes(std::string& out, std::string_view operands) {
  bool is_first = true;    // number of all
  bool begins_one = true;  // operand
  bool is_quoted = false;  // a size that has a name, and no number
  char last = ' ';
  for (const char c : operands) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == '[') begins_one = true;
    if (is_part_of_number(c) && !is_quoted) {
      const bool begins_number = !is_part_of_number(last);
      if (begins_number && !is_first) out += begins_one ? ", " : "x";
      out += c;
      is_first = begins_one = false;
    }
    last = c;
  }
}

void append_launch(std::string& out, std::string_view grid, std::string_view block) {
  if (grid.find_first_of("0123456789") == std::string_view::npos) return;
  out += "grid ";
  append_shapes(out, grid);
  if (block.empty()) return;
  out += ", block ";
  append_shapes(out, block);
}

std::string launch_text(const std::array<std::int64_t, 3>& grid,
                        const std::array<std::int64_t, 3>& block) {
  return fmt::format("grid {}, block {}", fmt::join(grid, "x"), fmt::join(block, "x"));
}

}  // namespace fathom::trace
