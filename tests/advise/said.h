#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "advise/suggest.h"

// What suggestions say, for tests of it.
namespace fathom::advise {

inline const Suggestion* found_by_rule(const Suggestions& found, std::string_view rule) {
  const auto at = std::find_if(found.list.begin(), found.list.end(),
                               [&](const Suggestion& one) { return one.rule == rule; });
  return at == found.list.end() ? nullptr : &*at;
}

inline std::string words_of(const Suggestion& one) {
  return one.title + "\n" + one.description + "\n" + one.expected_improvement + "\n" +
         hint_with_code(one);
}

inline std::string all_words(const Suggestions& found) {
  std::string text;
  for (const Suggestion& one : found.list) text += words_of(one) + "\n";
  return text;
}

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline bool says(const Suggestion* one, std::string_view part) {
  return one != nullptr && has(words_of(*one), part);
}

}  // namespace fathom::advise
