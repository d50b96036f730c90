#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/terminal.h"
#include "cli/browser.h"
#include "cli/commands.h"
#include "explain/analysis.h"
#include "report/page/page.h"
#include "report/page/run_page.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOpenNotes = R"(
The page is written to a private folder among the temporary files, where the browser can load it again until the
system clears them. To keep it, name it yourself: fathom report FILE -o report.html

$BROWSER names the browser, else the desktop's own is taken. Where there is neither, the path is printed.

Examples:
  fathom open trace.json.gz
  fathom open                                     an empty page: drop a profile onto it, or look at its demo
  BROWSER=firefox fathom open run.pftrace)";

// Named like the input, so that tabs of the browser can be told apart.
std::string page_name(const std::string& input) {
  std::string name =
      input.empty() || input == kStandard ? "fathom" : fs::path(input).filename().string();
  for (const char* const end : {".gz", ".zst", ".zip", ".json", ".pftrace", ".sqlite", ".pickle"}) {
    if (name.size() > std::strlen(end) && name.ends_with(end))
      name.resize(name.size() - std::strlen(end));
  }
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
  constexpr std::size_t kMostOfTheName = 100;
  return name.substr(0, kMostOfTheName) + ".html";
}

// Not beside the input, whose folder may be read-only or others' to read. Nobody but the user can
// look into it.
fs::path private_folder() {
  std::error_code missing;  // where TMPDIR names no folder
  const fs::path temporary = fs::temp_directory_path(missing);
  std::string folder = ((missing ? "/tmp" : temporary) / "fathom-open-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    throw base::Error(folder, std::strerror(errno),
                      "To write the page elsewhere: fathom report FILE -o report.html");
  }
  return folder;
}

std::string page_of(const std::string& file, Files& files) {
  if (file.empty()) return report::page_html({});
  const trace::Trace trace = files.load(file);
  return report::run_page(explain::Analysis(trace, file));
}

Ending run(const std::string& file, Files& files) {
  const std::string html = page_of(file, files);
  const fs::path page = private_folder() / page_name(file);
  write_page(html, page.string(), files);
  const Shown shown = show_in_browser(page);
  if (shown.is_open) return {};
  base::say(
      stdout,
      fmt::format(
          "No browser was started: {}. Open this file in one, here or on another machine:\n{}\n",
          base::printable(shown.why_not), base::printable(page.string())));
  return {};
}

}  // namespace

Command open_command() {
  auto file = std::make_shared<std::string>();
  Command command = {"open", "The page of a trace, in your browser", kOpenNotes};
  command.options.push_back(
      {.names = "FILE",
       .target = file.get(),
       .what = "A trace or profile of any format Fathom reads; without one, an empty page"});
  command.run = [file](Files& files) { return run(*file, files); };
  return command;
}

}  // namespace fathom::cli
