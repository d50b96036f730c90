#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_scan.h"

// The fields of a small JSON object by name, as they are written; what is null is not there.
namespace fathom::analyze {

// In the order of the text: an object has so few that looking at each is the quickest way.
using Members = std::vector<std::pair<std::string_view, std::string_view>>;

// Views into `object`; nothing where it is no object.
std::optional<Members> members_of(std::string_view object);
std::string_view member(const Members& members, std::string_view key);

std::string text_of(std::string_view value);  // of a string; of others, as they are written
std::optional<std::int64_t> whole_of(std::string_view value);

// The first of the fields that is a time, in nanoseconds; a name ends in its unit, _us or _s.
std::optional<std::int64_t> time_of(const Members& members,
                                    std::initializer_list<std::string_view> fields);

template <typename Each>
void for_each_element(std::string_view array, Each each) {
  base::JsonScanner scan(array, base::JsonScanner::Mode::lenient);
  if (!scan.take('[') || scan.take(']')) return;
  do {
    const auto value = scan.value();
    if (!value) return;
    each(*value);
  } while (scan.take(','));
}

std::vector<std::string> texts_of(std::string_view array);

}  // namespace fathom::analyze
