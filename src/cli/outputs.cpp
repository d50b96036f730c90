#include "cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/terminal.h"
#include "report/json/document.h"
#include "report/page/page.h"
#include "trace/read/input.h"

namespace fathom::cli {
namespace {

// The one written last would take the place of the other. A device or a pipe can be both.
void expect_two_files(const OtherOutput& one, const OtherOutput& two) {
  if (one.path.empty() || two.path.empty()) return;
  if (one.path == kStandard || two.path == kStandard) return;  // counted below
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::exists(one.path, unknown) && !fs::is_regular_file(one.path, unknown)) return;
  const bool is_one = fs::equivalent(one.path, two.path, unknown) ||
                      fs::weakly_canonical(fs::absolute(one.path, unknown), unknown) ==
                          fs::weakly_canonical(fs::absolute(two.path, unknown), unknown);
  if (!is_one) return;
  throw base::Error(one.path, "named for both " + one.what + " and " + two.what,
                    "Name two different files");
}

[[noreturn]] void refuse_json(const std::string& path) {
  throw base::Error(path, "exists and is not JSON from this command, so it is not overwritten",
                    "Name another file, or put --json last to print to standard output");
}

void expect_one_on_standard_output(const Outputs& outputs, const std::string& other) {
  const bool has_json = outputs.wants_json && outputs.json.empty();
  const int answers =
      (has_json ? 1 : 0) + (outputs.page == kStandard ? 1 : 0) + (other == kStandard ? 1 : 0);
  if (answers > 1) {
    throw base::Error("standard output", "would get more than one output",
                      "Name a file for all but one of them");
  }
}

// Standard output as it is: for pages and traces, whose bytes are no text for people.
base::Output standard_output() {
  if (base::is_terminal(stdout)) {
    throw base::Error("standard output", "is a terminal", "Redirect it, or name a file");
  }
  std::fflush(stdout);
  return {STDOUT_FILENO, "standard output"};
}

void write_whole(std::string text, base::Output&& output) {
  output.buffer() = std::move(text);
  output.finish();
}

}  // namespace

void resolve(Outputs& outputs, Files& files, const OtherOutput& other) {
  if (outputs.json == kStandard) outputs.json.clear();
  if (outputs.page.ends_with(".json")) {
    if (!outputs.wants_json || !outputs.json.empty()) {
      throw base::Error(outputs.page, "-o writes the page, which is HTML",
                        "For JSON: --json " + base::shell_word(outputs.page));
    }
    outputs.json = std::exchange(outputs.page, {});
  }
  const OtherOutput json = {outputs.json, "--json"};
  const OtherOutput page = {outputs.page, "-o"};
  expect_two_files(page, json);
  expect_two_files(other, json);
  expect_two_files(other, page);
  expect_one_on_standard_output(outputs, other.path);
  expect_json(outputs, files);
  files.will_write(outputs.page);
  if (is_something_else(outputs.page, report::page_begin())) {
    throw base::Error(outputs.page,
                      "exists and is not a page from Fathom, so it is not overwritten",
                      "Name another file");
  }
}

void expect_json(const Outputs& outputs, Files& files) {
  if (outputs.json.empty()) return;
  files.will_write(outputs.json);
  if (is_something_else(outputs.json, report::document_begin(outputs.document))) {
    refuse_json(outputs.json);
  }
}

void write_text(std::string text, const std::string& path, Files& files) {
  if (path.empty()) {
    base::say(stdout, text);
    return;
  }
  files.will_write(path);
  const auto size = static_cast<double>(text.size());
  write_whole(std::move(text), base::Output(path));
  base::say(stderr,
            fmt::format("fathom: {}: {}\n", base::printable(path), base::format_bytes(size)));
}

void write_json(std::string text, const std::string& path, Files& files) {
  // As far as it says which command's it is, whatever the version.
  if (is_something_else(path, std::string_view(text).substr(0, text.find(',')))) refuse_json(path);
  write_text(std::move(text), path, files);
}

void write_page(std::string html, const std::string& path, Files& files) {
  if (path != kStandard) return write_text(std::move(html), path, files);
  write_whole(std::move(html), standard_output());
}

void expect_new(const std::string& path, const std::string& what_to_do, Files& files) {
  files.will_write(path);
  std::error_code unknown;
  if (path == kStandard || !std::filesystem::is_regular_file(path, unknown)) return;
  if (std::filesystem::file_size(path, unknown) == 0) return;
  throw base::Error(path, "exists and is not overwritten", what_to_do);
}

base::Output output_to(const std::string& path) {
  if (path == kStandard) return standard_output();
  return base::Output(path);
}

bool is_something_else(const std::string& path, std::string_view begin) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;  // no pipe is read here
  if (std::filesystem::file_size(path, unknown) == 0) return false;
  try {
    return !trace::Input::open(path)->head().starts_with(begin);  // unpacked, where it is packed
  } catch (const base::Error&) {
    return true;
  }
}

}  // namespace fathom::cli
