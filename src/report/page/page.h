#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::report {

// Blocks of data by name: "summary" (summary.h), and what the page's other views ask for.
using PageData = std::vector<std::pair<std::string, std::string>>;

// The page of web/ with `data` in it: one HTML file that needs nothing else. Each block is packed
// (gzip, base64), so that nothing in it can be taken for HTML. Names are plain words.
// It opens on the tab `start` where the address names none; on the first without one.
std::string page_html(const PageData& data, std::string_view start = {});

// How every page begins, so that a file can be told to be one.
std::string_view page_begin();

// The page as web/ builds it, without data.
std::string_view page_template();

}  // namespace fathom::report
