#include "cli/compare_record.h"

#include <algorithm>

#include "base/error.h"
#include "cli/record_run.h"
#include "record/launch/run_parts.h"

namespace fathom::cli {
namespace {

constexpr double kMemoryIntervalMs = 10;

std::string record(const std::vector<std::string>& command, const char* name, int run) {
  std::string file = record::numbered(name, run);
  const record::Ended ended = record_run(command, {}, kMemoryIntervalMs, file);
  if (ended.signal == 0 && ended.exit_status == 0) return file;
  say_how_it_ended(ended);
  throw base::Error(command.front(), "did not end well, so its runs cannot be compared");
}

}  // namespace

RecordedSides record_in_turn(const std::vector<std::string>& words, int repeat) {
  const auto between = std::ranges::find(words, ":::");
  if (between == words.begin() || between == words.end() || between + 1 == words.end()) {
    throw base::Error("compare --repeat", "two commands are needed, with ::: between",
                      "Try: fathom compare --repeat 5 -- ./before ::: ./now");
  }
  const std::vector<std::string> before(words.begin(), between);
  const std::vector<std::string> now(between + 1, words.end());
  RecordedSides sides;
  for (int run = 1; run <= repeat; ++run) {
    sides.base.push_back(record(before, "before.pftrace", run));
    sides.current.push_back(record(now, "now.pftrace", run));
  }
  return sides;
}

}  // namespace fathom::cli
