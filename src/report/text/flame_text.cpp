#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/fit_names.h"
#include "base/format.h"
#include "report/flame_report.h"
#include "report/text/bar.h"

namespace fathom::report {
namespace {

constexpr double kShownFrom = 0.005;  // of the whole
constexpr std::size_t kLines = 60;    // the heaviest that many
constexpr std::size_t kPathBarColumns = 16;
constexpr std::size_t kFigureColumns = 22;  // "  100.0 %    238.3 ms "

std::string amount(std::int64_t value, FlameWeight weight) {
  return weight == FlameWeight::count ? base::format_count(static_cast<std::uint64_t>(value))
                                      : base::format_duration(static_cast<double>(value));
}

std::string headline(const FlameTree& tree, FlameWeight weight) {
  const std::string whole = amount(tree.nodes[0].total(weight), weight);
  switch (weight) {
    case FlameWeight::cpu:
      return fmt::format("  {} of CPU time, by call path. It is wall time, waiting included.\n",
                         whole);
    case FlameWeight::gpu:
      return fmt::format("  {} of GPU work, by the call path that launched it.\n", whole);
    case FlameWeight::count:
      break;
  }
  return fmt::format("  {} spans, by call path.\n", whole);
}

class Lines {
 public:
  Lines(const FlameTree& tree, FlameWeight weight, std::size_t width)
      : tree_(tree), weight_(weight), children_(children_by_weight(tree, weight)) {
    name_columns_ = std::max<std::size_t>(width, 60) - kPathBarColumns - kFigureColumns - 4;
    choose_limit();
  }

  std::string text() {
    add_children(0, 0);
    const std::uint64_t left_out = tree_.nodes.size() - 1 - shown_;
    if (left_out > 0) {
      text_ += fmt::format("\n  … {} not shown (-o flame.html shows them all)\n",
                           base::format_plural(left_out, "lighter path", "lighter paths"));
    }
    return text_;
  }

 private:
  // A parent is never lighter than its children, so the heaviest nodes form a tree.
  void choose_limit() {
    std::vector<std::int64_t> totals;
    for (FlameNodeId id = 1; id < tree_.nodes.size(); ++id) {
      totals.push_back(tree_.nodes[id].total(weight_));
    }
    const auto whole = static_cast<double>(tree_.nodes[0].total(weight_));
    limit_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(whole * kShownFrom));
    if (totals.size() <= kLines) return;
    std::nth_element(totals.begin(), totals.begin() + kLines, totals.end(), std::greater<>());
    limit_ = std::max(limit_, totals[kLines]);
  }

  bool is_shown(FlameNodeId id) const { return tree_.nodes[id].total(weight_) >= limit_; }

  // What is called from one place is kept apart where names are cut.
  void add_children(FlameNodeId parent, std::size_t depth) {
    std::vector<std::string> names;
    for (const FlameNodeId child : children_[parent]) {
      if (!is_shown(child)) break;  // heaviest first
      names.emplace_back(tree_.name(child).empty() ? "(no name)" : tree_.name(child));
    }
    const std::size_t indent = std::min(depth, name_columns_ / 3);
    names = base::fit_names(names, name_columns_ - indent);
    for (std::size_t i = 0; i < names.size(); ++i) {
      add(children_[parent][i], names[i], indent);
      add_children(children_[parent][i], depth + 1);
    }
  }

  void add(FlameNodeId id, const std::string& shown, std::size_t indent) {
    ++shown_;
    const FlameNode& node = tree_.nodes[id];
    const auto whole = static_cast<double>(tree_.nodes[0].total(weight_));
    const double share = static_cast<double>(node.total(weight_)) / whole;
    text_ += fmt::format("  {:{}}{}{:{}}  {}{:>8}  {:>9}\n", "", indent, shown, "",
                         name_columns_ - indent - base::display_width(shown),
                         bar(share, kPathBarColumns), base::format_percent(share * 100),
                         amount(node.total(weight_), weight_));
  }

  const FlameTree& tree_;
  FlameWeight weight_;
  std::vector<std::vector<FlameNodeId>> children_;
  std::size_t name_columns_ = 0;
  std::int64_t limit_ = 1;
  std::uint64_t shown_ = 0;
  std::string text_;
};

}  // namespace

std::string to_text(const FlameTree& tree, FlameWeight weight, std::size_t width) {
  if (tree.nodes[0].total(weight) == 0) {
    return weight == FlameWeight::gpu ? "\n  This trace has no GPU work.\n\n"
                                      : "\n  No spans in this file.\n\n";
  }
  return "\n" + headline(tree, weight) + "\n" + Lines(tree, weight, width).text() + "\n";
}

}  // namespace fathom::report
