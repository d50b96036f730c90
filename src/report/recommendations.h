#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/suggestion.h"

namespace fathom::report {

// What to do about a run, or about the ranks of one job: ranks that say the same say it once.
struct Recommendation {
  std::string title;
  advise::SuggestionType type = advise::SuggestionType::parallelization;
  advise::Priority priority = advise::Priority::low;
  std::optional<double> gain_pct;  // the mean of the ranks that say it; absent where not known
  bool is_bound = false;           // the gain is the most it could be
  bool is_rough = false;           // for at least one of them the replay is off by 3 to 10 %
  std::size_t ranks = 0;           // that say it
  std::size_t of_ranks = 0;
  std::string hint;  // how, in words
  std::vector<std::string> code;
};

// Most gain first.
std::vector<Recommendation> recommend(std::span<const advise::Suggestions> ranks,
                                      std::size_t top = 5);

// What to do, what it brings where that is known, and how.
std::string sentence(const Recommendation& one);

// recommend() as a sentence each.
std::vector<std::string> recommendations(std::span<const advise::Suggestions> ranks);

// "what to change" and a line for each of the first few; empty where there is nothing to say.
std::string what_to_change(const advise::Suggestions& found, const std::string& source,
                           std::size_t top, std::size_t width);

}  // namespace fathom::report
