#pragma once

#include <filesystem>
#include <string>

namespace fathom::cli {

// Shows a file in the browser that $BROWSER names (several apart by colons, the first that starts;
// "%s" in one stands for the address), else in the desktop's own where there is a display. No shell
// reads the words, and the browser outlives us.
struct Shown {
  bool is_open = false;
  std::string in;       // the browser that shows it
  std::string why_not;  // one clause: "no display and no $BROWSER"
};

Shown show_in_browser(const std::filesystem::path& page);

}  // namespace fathom::cli
