#pragma once

#include <string>
#include <string_view>

namespace fathom::report {

// The summary document of a page that is not about one run and has one tab: its name and its story.
std::string tab_summary(std::string_view tab, const std::string& source, const std::string& story);

}  // namespace fathom::report
