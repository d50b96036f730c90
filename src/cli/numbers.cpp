#include "cli/numbers.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

namespace fathom::cli {
namespace {

template <typename Number>
CLI::Validator checked(const char* kind, Number least, Number most, Number endless) {
  const bool is_open = most == endless;
  const std::string range =
      is_open ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
  const auto fault = [=](const std::string& word) -> std::string {
    Number number{};
    const char* const end = word.data() + word.size();
    const auto [read_to, problem] = std::from_chars(word.data(), end, number);
    const bool is_number = problem == std::errc() && read_to == end;
    if (is_number && number >= least && number <= most) return {};  // NaN is neither
    return fmt::format("\"{}\" is no {} {} {}", word, kind, is_open ? "of" : "from", range);
  };
  return CLI::Validator(fault, range);
}

}  // namespace

CLI::Validator number(double least, double most) {
  return checked("number", least, most, std::numeric_limits<double>::infinity());
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return checked("whole number", least, most, std::numeric_limits<std::int64_t>::max());
}

}  // namespace fathom::cli
