#include "base/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/fit_names.h"
#include "base/format.h"
#include "base/printable.h"

namespace fathom::base {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestName = 12;

std::string pad(std::size_t columns) {
  return std::string(columns, ' ');
}

std::vector<std::string> first_cells(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> cells;
  for (const auto& row : rows) cells.push_back(row[0]);
  return cells;
}

}  // namespace

Table::Table(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void Table::row(std::vector<std::string> cells) {
  assert(cells.size() == rows_.front().size());
  for (std::string& cell : cells) cell = printable(cell);
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

  const std::vector<std::string> names = fit_names(first_cells(rows_), widths[0]);
  std::string out;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::vector<std::string>& cells = rows_[row];
    const std::string& name = names[row];
    const std::size_t used = display_width(name);
    std::string line = pad(kGap) + name + pad(widths[0] > used ? widths[0] - used : 0);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      line += pad(kGap + widths[i] - display_width(cells[i])) + cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace fathom::base
