#include "cli/compare_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/printable.h"
#include "cli/record_run.h"
#include "record/launch/run_parts.h"

namespace fathom::cli {
namespace {

constexpr double kMemoryIntervalMs = 10;

// Files of the next number that neither side has had: earlier runs are not written over.
void reserve_pair(RecordedSides& sides, int& number) {
  for (;;) {
    ++number;
    const std::string before = record::numbered("before.pftrace", number);
    const std::string now = record::numbered("now.pftrace", number);
    if (!record::reserve(before)) continue;
    if (record::reserve(now)) {
      sides.base.push_back(before);
      sides.current.push_back(now);
      return;
    }
    std::filesystem::remove(before);
  }
}

std::string how(const record::Ended& ended) {
  return ended.signal != 0
             ? fmt::format("was killed by signal {} ({})", ended.signal, strsignal(ended.signal))
             : fmt::format("ended with status {}", ended.exit_status);
}

void record(const std::vector<std::string>& command, const std::string& file, Files& files) {
  record::Ended ended;
  try {
    ended = record_run(command, {}, kMemoryIntervalMs, {file}, files).ended;
  } catch (const record::CannotRun& error) {
    throw base::Error(error);  // the status is no longer that of one program
  }
  if (ended.signal == 0 && ended.exit_status == 0) return;
  throw base::Error(command.front(), how(ended) + ", so its runs cannot be compared",
                    "Its recording is " + file);
}

std::string names(const std::vector<std::string>& files) {
  return files.size() == 1 ? files.front() : fmt::format("{} … {}", files.front(), files.back());
}

// Empty files are names of runs that never began.
void remove_empty(const RecordedSides& sides) {
  for (const auto& files : {sides.base, sides.current}) {
    for (const std::string& file : files) {
      std::error_code gone;
      if (std::filesystem::is_empty(file, gone)) std::filesystem::remove(file, gone);
    }
  }
}

}  // namespace

RecordedSides record_in_turn(const std::vector<std::string>& words, int repeat, Files& files) {
  const auto between = std::ranges::find(words, ":::");
  if (between == words.begin() || between == words.end() || between + 1 == words.end()) {
    throw base::Error("compare --repeat", "two commands are needed, separated by :::",
                      "Try: fathom compare --repeat 5 -- ./before ::: ./now");
  }
  const std::vector<std::string> before(words.begin(), between);
  const std::vector<std::string> now(between + 1, words.end());
  RecordedSides sides;
  int number = 0;
  try {
    for (int run = 0; run < repeat; ++run) {
      reserve_pair(sides, number);
      record(before, sides.base.back(), files);
      record(now, sides.current.back(), files);
    }
  } catch (...) {
    remove_empty(sides);
    throw;
  }
  base::say(stderr,
            fmt::format("fathom: recorded {} and {}\n", names(sides.base), names(sides.current)));
  return sides;
}

}  // namespace fathom::cli
