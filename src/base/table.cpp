#include "base/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/format.h"

namespace fathom::base {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestName = 12;

std::string pad(std::size_t columns) {
  return std::string(columns, ' ');
}

}  // namespace

Table::Table(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void Table::row(std::vector<std::string> cells) {
  assert(cells.size() == rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(cells[i]));
    }
  }
  std::size_t figures = kGap;
  for (std::size_t i = 1; i < widths.size(); ++i) figures += widths[i] + kGap;
  const std::size_t room = width > figures ? width - figures : 0;
  widths[0] = std::min(widths[0], std::max(room, kNarrowestName));

  std::string out;
  for (const auto& cells : rows_) {
    const std::string name = fit_qualified(cells[0], widths[0]);
    std::string line = pad(kGap) + name + pad(widths[0] - display_width(name));
    for (std::size_t i = 1; i < cells.size(); ++i) {
      line += pad(kGap + widths[i] - display_width(cells[i])) + cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace fathom::base
