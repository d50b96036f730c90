#include "base/fit_names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "base/format.h"

namespace fathom::base {
namespace {

constexpr std::size_t kNarrowest = 12;

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

}  // namespace

std::vector<std::string> fit_names(const std::vector<std::string>& all, std::size_t columns) {
  std::map<std::string, std::set<std::string_view>> alike;
  for (const std::string& name : all) alike[fit_qualified(name, columns)].insert(name);
  std::map<std::string_view, std::string> shown;
  std::set<std::string> taken;
  for (const auto& [fitted, names] : alike) {
    std::size_t number = 1;
    for (auto name = names.begin(); name != names.end(); ++name) {
      std::string text = fitted;
      if (names.size() > 1 && columns >= kNarrowest) {
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
  for (const std::string& name : all) fit_to_rows.push_back(shown[name]);
  return fit_to_rows;
}

}  // namespace fathom::base
