#include "cli/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/output.h"
#include "base/printable.h"
#include "cli/command_line.h"
#include "trace/read.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

// A terminal may well be both; only a file can be lost.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  if (a == kStandard || b == kStandard) return false;
  return fs::is_regular_file(a, unknown) && fs::equivalent(a, b, unknown);
}

auto same_file(const std::vector<std::string>& files, const std::string& path) {
  return std::ranges::find_if(files,
                              [&](const std::string& other) { return are_one_file(path, other); });
}

[[noreturn]] void refuse(const std::string& output) {
  throw base::Error(output, "is the input file and is not overwritten", "Name another output file");
}

constexpr const char* kStandardInput = "standard input";

std::string shown(const std::string& path) {
  return path == kStandard ? kStandardInput : base::printable(path);
}

}  // namespace

void Files::will_read(const std::string& path) {
  const auto output = same_file(outputs_, path);
  if (output != outputs_.end()) refuse(*output);
  inputs_.push_back(path);
}

void Files::will_write(const std::string& path) {
  if (path.empty()) return;
  expect_no_input(path);
  if (path != kStandard) base::expect_writable(path);
  outputs_.push_back(path);
}

void Files::expect_no_input(const std::string& path) const {
  if (same_file(inputs_, path) != inputs_.end()) refuse(path);
}

bool Files::is_standard_input(const std::string& path) {
  will_read(path);
  if (path != kStandard) return false;
  if (std::exchange(is_standard_input_read_, true)) {
    throw base::Error(kStandardInput, "can be read only once", "Name files for the others");
  }
  return true;
}

std::shared_ptr<const trace::Input> Files::open(const std::string& path) {
  return is_standard_input(path) ? trace::Input::open(STDIN_FILENO, kStandardInput)
                                 : trace::Input::open(path);
}

std::string Files::name_to_open(const std::string& path) {
  return is_standard_input(path) ? "/dev/stdin" : path;
}

trace::Trace Files::load(const std::string& path) {
  if (path.empty()) throw BadUsage("FILE is empty");
  trace::Trace trace = is_standard_input(path) ? trace::read_trace(STDIN_FILENO, kStandardInput)
                                               : trace::read_trace(path);
  input_was_damaged_ |= trace.warnings.count(trace::WarningKind::damaged_packing) > 0;
  for (const trace::Warning& warning : trace.warnings.all()) {
    base::say(stderr, fmt::format("fathom: {}: {}\n", shown(path), describe(warning)));
  }
  if (trace.run.dropped_spans.value_or(0) > 0) {
    base::say(stderr,
              fmt::format("fathom: {}: {} dropped while recording\n", shown(path),
                          base::format_plural(static_cast<std::uint64_t>(*trace.run.dropped_spans),
                                              "span was", "spans were")));
  }
  return trace;
}

}  // namespace fathom::cli
