#include "cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> inputs;
std::vector<std::string> outputs;

// A terminal may well be both; only a file can be lost.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  return fs::is_regular_file(a, unknown) && fs::equivalent(a, b, unknown);
}

auto same_file(const std::vector<std::string>& files, const std::string& path) {
  return std::ranges::find_if(files,
                              [&](const std::string& other) { return are_one_file(path, other); });
}

[[noreturn]] void refuse(const std::string& output) {
  throw base::Error(output, "is the input itself, so it is not overwritten",
                    "Name another file to write");
}

}  // namespace

void will_read(const std::string& path) {
  const auto output = same_file(outputs, path);
  if (output != outputs.end()) refuse(*output);
  inputs.push_back(path);
}

void will_write(const std::string& path) {
  if (path.empty()) return;
  expect_no_input(path);
  outputs.push_back(path);
}

void expect_no_input(const std::string& path) {
  if (same_file(inputs, path) != inputs.end()) refuse(path);
}

}  // namespace fathom::cli
