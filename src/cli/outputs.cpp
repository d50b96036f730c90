#include "cli/outputs.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/shell_word.h"

namespace fathom::cli {
namespace {

// The one written last would take the place of the other. A device or a pipe can be both.
void expect_two_files(const Outputs& outputs) {
  if (outputs.page.empty() || outputs.json.empty()) return;
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::exists(outputs.page, unknown) && !fs::is_regular_file(outputs.page, unknown)) return;
  const bool is_one =
      fs::equivalent(outputs.page, outputs.json, unknown) ||
      fs::weakly_canonical(outputs.page, unknown) == fs::weakly_canonical(outputs.json, unknown);
  if (!is_one) return;
  throw base::Error(outputs.page, "named for both -o and --json", "Name two different files");
}

}  // namespace

void resolve(Outputs& outputs, Files& files) {
  if (outputs.page.ends_with(".json")) {
    if (!outputs.wants_json || !outputs.json.empty()) {
      throw base::Error(outputs.page, "-o writes the page, which is HTML",
                        "For JSON: --json " + base::shell_word(outputs.page));
    }
    outputs.json = std::exchange(outputs.page, {});
  }
  expect_two_files(outputs);
  files.will_write(outputs.json);
  files.will_write(outputs.page);
}

void write_text(std::string text, const std::string& path, Files& files) {
  if (path.empty()) {
    base::say(stdout, text);
    return;
  }
  files.will_write(path);
  const auto size = static_cast<double>(text.size());
  base::Output output(path);
  output.buffer() = std::move(text);
  output.finish();
  base::say(stderr,
            fmt::format("fathom: {}: {}\n", base::printable(path), base::format_bytes(size)));
}

void write_json(std::string text, const std::string& path, Files& files) {
  constexpr std::size_t kTelling = 8;  // the first key of each command's JSON differs by then
  if (is_something_else(path, std::string_view(text).substr(0, kTelling))) {
    throw base::Error(path, "exists and is not JSON from this command, so it is not overwritten",
                      "Name another file, or put --json last to print to standard output");
  }
  write_text(std::move(text), path, files);
}

bool is_something_else(const std::string& path, std::string_view begin) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;  // no pipe is read here
  std::ifstream in(path, std::ios::binary);
  std::string head(begin.size(), '\0');
  if (!in.read(head.data(), 1)) return false;
  in.read(head.data() + 1, static_cast<std::streamsize>(head.size()) - 1);
  return head != begin;
}

}  // namespace fathom::cli
