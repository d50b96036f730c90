#include "report/recommendations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "base/shell_word.h"
#include "base/table.h"

namespace fathom::report {
namespace {

using advise::GainBasis;
using advise::Suggestion;
using advise::Suggestions;

constexpr std::size_t kShown = 3;

struct Joined {
  const Suggestion* first = nullptr;
  double gain_pct = 0;  // summed
  std::size_t gains = 0;
  bool is_rough = false;
  std::size_t ranks = 0;
};

// Operations differ from rank to rank; what is to be done about them does not.
std::vector<Joined> join(std::span<const Suggestions> ranks) {
  std::vector<Joined> all;
  for (const Suggestions& rank : ranks) {
    for (const Suggestion& one : rank.list) {
      auto known = std::find_if(all.begin(), all.end(),
                                [&](const Joined& each) { return each.first->title == one.title; });
      if (known == all.end()) known = all.insert(all.end(), {&one});
      known->gain_pct += one.gain_pct;
      known->gains += one.gain ? 1 : 0;
      known->is_rough = known->is_rough || one.is_rough;
      ++known->ranks;
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Joined& a, const Joined& b) {
    const bool a_later = a.first->is_after_others;
    const bool b_later = b.first->is_after_others;
    return a_later != b_later ? b_later : a.gain_pct > b.gain_pct;
  });
  return all;
}

// "at most ", "roughly " or nothing, before a figure.
const char* how_sure(bool is_bound, bool is_rough) {
  if (is_bound) return "at most ";
  return is_rough ? "roughly " : "";
}

std::string gain_text(const Recommendation& one) {
  if (!one.gain_pct) return {};
  std::string text = fmt::format(" (saves {}{}", how_sure(one.is_bound, one.is_rough),
                                 base::format_percent(*one.gain_pct));
  if (one.of_ranks > 1) text += fmt::format(" on {} of {} ranks", one.ranks, one.of_ranks);
  return text + ")";
}

// Whoever reads about several ranks has run `fathom hta` on them: without sentences that send
// there.
std::string without_hta(const std::string& hint) {
  std::string left;
  for (std::size_t at = 0; at < hint.size();) {
    const std::size_t stop = hint.find(". ", at);
    const std::size_t end = stop == std::string::npos ? hint.size() : stop + 2;
    const std::string sentence = hint.substr(at, end - at);
    if (sentence.find("fathom hta") == std::string::npos) left += sentence;
    at = end;
  }
  while (left.ends_with(' ')) left.pop_back();
  return left;
}

}  // namespace

std::vector<Recommendation> recommend(std::span<const Suggestions> ranks, std::size_t top) {
  std::vector<Recommendation> found;
  for (const Joined& joined : join(ranks)) {
    if (found.size() == top) break;
    const Suggestion& first = *joined.first;
    Recommendation& one = found.emplace_back();
    one.title = first.title;
    one.type = first.type;
    one.priority = first.priority;
    if (joined.gains > 0) one.gain_pct = joined.gain_pct / static_cast<double>(joined.ranks);
    one.is_bound = first.basis == GainBasis::bound;
    one.is_rough = joined.is_rough;
    one.ranks = joined.ranks;
    one.of_ranks = ranks.size();
    one.hint =
        ranks.size() > 1 ? without_hta(first.implementation_hint) : first.implementation_hint;
    one.code = first.code;
  }
  return found;
}

std::string sentence(const Recommendation& one) {
  return fmt::format("{}{}. {}", one.title, gain_text(one), one.hint);
}

std::vector<std::string> recommendations(std::span<const Suggestions> ranks) {
  std::vector<std::string> texts;
  for (const Recommendation& one : recommend(ranks)) texts.push_back(sentence(one));
  return texts;
}

std::string what_to_change(const Suggestions& found, const std::string& source, std::size_t top,
                           std::size_t width) {
  if (found.list.empty()) return {};
  base::Table table({"what to change", "saves"});
  for (std::size_t i = 0; i < std::min({kShown, top, found.list.size()}); ++i) {
    const Suggestion& one = found.list[i];
    const bool is_bound = one.basis == GainBasis::bound;
    table.row(
        {one.title, one.gain ? how_sure(is_bound, one.is_rough) + base::format_percent(one.gain_pct)
                    : found.has_gains ? "–"  // it saves nothing by itself
                                      : "unknown"});
  }
  return "\n" + table.text(width) +
         fmt::format("  how: fathom suggest {}\n", base::shell_word(source));
}

}  // namespace fathom::report
