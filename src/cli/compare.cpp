#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/put.h"
#include "cli/record_run.h"
#include "record/launch/run_parts.h"
#include "report/comparison_report.h"

namespace fathom::cli {
namespace {

constexpr double kMemoryIntervalMs = 10;
constexpr const char* kExamples = R"(
With --gate the exit status is 0 where nothing got slower, 1 for a regression, 3 where these runs do
not tell, and 2 for bad usage or input.

Examples:
  fathom compare before.json.gz --with after.json.gz
  fathom compare base/run-*.pftrace --with now/run-*.pftrace --gate
  fathom compare base.json --with now.json --threshold 10 --json changes.json
  fathom compare --repeat 5 -- ./before --size 4096 ::: ./now --size 4096)";

struct Options {
  std::vector<std::string> base;
  std::vector<std::string> current;
  compare::Settings settings;
  int repeat = 0;  // with it, `base` is two commands with ":::" between
  bool gate = false;
  bool wants_json = false;
  std::string json;
  std::size_t top = 20;
};

// One trace at a time: what is kept of it are its operations' times.
std::vector<compare::Run> load_side(const std::vector<std::string>& files) {
  std::vector<compare::Run> runs;
  for (const std::string& file : files) runs.push_back(compare::run_of(load(file), file));
  return runs;
}

int gate_status(compare::Outcome outcome) {
  switch (outcome) {
    case compare::Outcome::no_regression:
      return 0;
    case compare::Outcome::regression:
      return 1;
    default:
      return 3;
  }
}

// Runs both commands in turn, so that what changes over time changes for both, and names the files.
void record_sides(Options& options) {
  const auto between = std::ranges::find(options.base, ":::");
  const std::vector<std::string> before(options.base.begin(), between);
  if (between == options.base.end() || before.empty() || between + 1 == options.base.end()) {
    throw base::Error("compare --repeat", "two commands are needed, with ::: between",
                      "Try: fathom compare --repeat 5 -- ./before ::: ./now");
  }
  const std::vector<std::string> now(between + 1, options.base.end());
  options.base.clear();
  options.current.clear();
  const auto record = [&](const std::vector<std::string>& command, const char* name, int run,
                          std::vector<std::string>& files) {
    files.push_back(record::numbered(name, run));
    const record::Ended ended = record_run(command, {}, kMemoryIntervalMs, files.back());
    if (ended.signal == 0 && ended.exit_status == 0) return;
    say_how_it_ended(ended);
    throw base::Error(command.front(), "did not end well, so its runs cannot be compared");
  };
  for (int run = 1; run <= options.repeat; ++run) {
    record(before, "before.pftrace", run, options.base);
    record(now, "now.pftrace", run, options.current);
  }
}

void run(Options options) {
  if (options.repeat > 0) record_sides(options);
  if (options.current.empty()) {
    throw base::Error("compare", "what to compare with is missing",
                      "Try: fathom compare BEFORE --with NOW");
  }
  const std::vector<compare::Run> base = load_side(options.base);
  const std::vector<compare::Run> current = load_side(options.current);
  const report::ComparisonReport report{compare::compare_runs(base, current, options.settings),
                                        options.base, options.current};
  if (options.wants_json) put(to_json(report), options.json);
  if (!options.wants_json || !options.json.empty()) {
    fmt::print("{}", to_text(report, options.top, base::terminal_width(stdout)));
  }
  if (!options.gate || input_was_damaged()) return;
  std::fflush(stdout);
  std::exit(gate_status(report.comparison.outcome));
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("compare", "Tells what got slower or faster between runs, and how surely");
  command->add_option("BASE", options->base, "Runs before: traces or profiles")->required();
  command->add_option("--with", options->current, "Runs now")->type_name("CURRENT");
  command
      ->add_option("--threshold", options->settings.threshold_pct, "Percent that count as a change")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  command
      ->add_option(
          "--repeat", options->repeat,
          "Record two commands, after -- and with ::: between them, so many times each, to "
          "before-N.pftrace and now-N.pftrace")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--gate", options->gate, "Say it with the exit status, for CI");
  command->add_flag("--single-run-gate", options->settings.single_run_decides,
                    "Let one run a side decide by the threshold alone, noise and all");
  command->add_option("--top", options->top, "Rows of the table")->capture_default_str();
  CLI::Option* json =
      command->add_option("--json", options->json, "Everything, as JSON; to a file if one is named")
          ->expected(0, 1);
  command->footer(kExamples);
  command->callback([options, json] {
    options->wants_json = json->count() > 0;
    run(*options);
  });
}

}  // namespace fathom::cli
