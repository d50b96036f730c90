#pragma once

#include <algorithm>
#include <cctype>
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

// Whether a text has these words, whatever their case; the first from its beginning ("pin" is in
// "Pinned memory" and "pin_memory", and not in "overlapping").
inline bool has_words(std::string_view text, std::string_view words) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  auto from = text.begin();
  while (true) {
    const auto at = std::search(from, text.end(), words.begin(), words.end(), same);
    if (at == text.end()) return false;
    if (at == text.begin() || std::isalnum(static_cast<unsigned char>(*(at - 1))) == 0) return true;
    from = at + 1;
  }
}

inline bool says(const Suggestion* one, std::string_view part) {
  return one != nullptr && has(words_of(*one), part);
}

}  // namespace fathom::advise
