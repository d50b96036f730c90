#include "base/table.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/printable.h"

namespace fathom::base {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestName = 12;

std::string pad(std::size_t columns) {
  return std::string(columns, ' ');
}

// How many bytes two texts begin with in common.
std::size_t common_length(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// Cut in the middle: the beginning, "…", and what follows byte `at`, a little of before included.
std::string fit_around(std::string_view text, std::size_t at, std::size_t columns) {
  constexpr std::size_t kBefore = 6;
  const std::size_t head = columns / 3;
  const std::size_t tail = columns - head - 1;
  std::size_t begin =
      std::min(at > kBefore ? at - kBefore : 0, text.size() - std::min(text.size(), tail));
  while (is_inside_character(text, begin)) ++begin;
  return fit(text, head + 1) + fit(text.substr(begin), tail);
}

// The names of a table cut to fit. No two that differ look the same: those that would are cut where
// they differ, and numbered where even that does not tell them apart.
std::vector<std::string> fit_names(const std::vector<std::vector<std::string>>& rows,
                                   std::size_t columns) {
  std::map<std::string, std::set<std::string_view>> alike;
  for (const auto& cells : rows) alike[fit_qualified(cells[0], columns)].insert(cells[0]);
  std::map<std::string_view, std::string> shown;
  std::set<std::string> taken;
  for (const auto& [fitted, names] : alike) {
    std::size_t number = 1;
    for (auto name = names.begin(); name != names.end(); ++name) {
      std::string text = fitted;
      if (names.size() > 1 && columns >= kNarrowestName) {
        const auto next = std::next(name);
        const std::size_t before =
            name == names.begin() ? 0 : common_length(*std::prev(name), *name);
        const std::size_t after = next == names.end() ? 0 : common_length(*name, *next);
        text = fit_around(*name, std::max(before, after), columns);
      }
      while (!taken.insert(text).second) {
        const std::string mark = " (" + std::to_string(++number) + ")";
        text = fit(fitted, columns > mark.size() ? columns - mark.size() : columns) + mark;
      }
      shown[*name] = text;
    }
  }
  std::vector<std::string> fit_to_rows;
  for (const auto& cells : rows) fit_to_rows.push_back(shown[cells[0]]);
  return fit_to_rows;
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

  const std::vector<std::string> names = fit_names(rows_, widths[0]);
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
