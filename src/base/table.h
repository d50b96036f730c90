#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::base {

// A text table as in "the terminal": two spaces before each line and between columns, the first
// column left, figures right, and names cut with "…" (fit_qualified) so that a line fits the width.
// Names that differ never look the same, however short they are cut.
//
//   Table table({"kernel", "calls", "total"});
//   table.row({"sgemm", "1,212", "96.1 ms"});
//   out += table.text(terminal_width());
class Table {
 public:
  explicit Table(std::vector<std::string> header);

  void row(std::vector<std::string> cells);  // as many as the header has
  bool empty() const { return rows_.size() == 1; }
  std::string text(std::size_t width) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
};

}  // namespace fathom::base
