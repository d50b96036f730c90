#include <memory>

#include "base/error.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/compare_record.h"
#include "report/comparison_report.h"
#include "report/history_report.h"
#include "report/page/compare.h"

namespace fathom::cli {
namespace {

constexpr const char* kCompareNotes = R"(
With --gate the exit status is 0 if nothing got slower, 1 for a regression, 3 if the runs are
inconclusive, and 2 for bad usage or input, or a program that cannot be started or fails (--repeat).

Examples:
  fathom compare before.json.gz --with now.json.gz
  fathom compare before/run-*.pftrace --with now/run-*.pftrace --gate
  fathom compare before.json --with now.json --threshold 10 --json changes.json
  fathom compare before/*.pftrace --with now/*.pftrace -o compare.html
  fathom compare --repeat 5 -- ./before --size 4096 ::: ./now --size 4096
  fathom compare --history nightly/*.pftrace)";

struct CompareOptions {
  std::vector<std::string> base;
  std::vector<std::string> current;
  compare::Settings settings;
  int repeat = 0;        // with it, `base` is two commands with ":::" between
  bool history = false;  // with it, `base` is a series of runs
  bool gate = false;
  Outputs outputs;
  std::size_t top = 20;
};

// One trace at a time: what is kept of it are its operations' times and, for the page, its tree.
template <typename Take>
void for_each_run(const std::vector<std::string>& runs, Files& files, base::Progress& progress,
                  const Take& take) {
  for (const std::string& file : runs) {
    take(files.load(file), file);
    progress.advance(1);
  }
}

int gate_status(ComparisonOutcome outcome) {
  switch (outcome) {
    case ComparisonOutcome::no_regression:
      return 0;
    case ComparisonOutcome::regression:
      return 1;
    default:
      return 3;
  }
}

template <typename Report>
void show(const Report& found, const CompareOptions& options, Files& files) {
  if (options.outputs.wants_json) write_json(report::to_json(found), options.outputs.json, files);
  if (options.outputs.wants_text()) {
    write_text(report::to_text(found, options.top, base::terminal_width(stdout)), {}, files);
  }
}

Ending run_history(const CompareOptions& options, Files& files) {
  if (!options.current.empty() || options.repeat > 0 || options.gate ||
      !options.outputs.page.empty()) {
    throw base::Error("compare --history",
                      "takes one series of runs, without --with, --repeat, --gate or -o",
                      "Try: fathom compare --history RUN…");
  }
  compare::HistoryBuilder builder;
  {
    base::Progress progress("reading runs", options.base.size());
    for_each_run(options.base, files, progress,
                 [&](const trace::Trace& trace, const std::string& file) {
                   builder.add(compare::run_of(trace, file));
                 });
  }
  const compare::ChangePointSettings settings = {.threshold_pct = options.settings.threshold_pct};
  show(std::move(builder).finish(settings, options.settings.all_operations), options, files);
  return {};
}

void read_sides(const CompareOptions& options, Files& files, std::vector<compare::Run>& base,
                std::vector<compare::Run>& current, compare::FlameChangeBuilder& flames) {
  base::Progress progress("reading runs", options.base.size() + options.current.size());
  const auto take = [&](std::vector<compare::Run>& runs, compare::Side side) {
    return [&, side](const trace::Trace& trace, const std::string& file) {
      runs.push_back(compare::run_of(trace, file));
      if (!options.outputs.page.empty()) flames.add(analyze::flame_tree(trace), side);
    };
  };
  for_each_run(options.base, files, progress, take(base, compare::Side::base));
  for_each_run(options.current, files, progress, take(current, compare::Side::current));
}

Ending run(CompareOptions options, Files& files) {
  if (options.history) options.outputs.document = "history";
  resolve(options.outputs, files);
  if (options.history) return run_history(options, files);
  if (options.repeat > 0) {
    auto [base, current] = record_in_turn(options.base, options.repeat, files);
    options.base = std::move(base);
    options.current = std::move(current);
  }
  if (options.current.empty()) {
    throw base::Error("compare", "nothing to compare with",
                      "Try: fathom compare BEFORE --with NOW");
  }
  std::vector<compare::Run> base;
  std::vector<compare::Run> current;
  compare::FlameChangeBuilder flames;
  read_sides(options, files, base, current, flames);
  const report::ComparisonReport report{compare::compare_runs(base, current, options.settings),
                                        options.base, options.current};
  show(report, options, files);
  if (!options.outputs.page.empty()) {
    const compare::FlameChange flame = std::move(flames).finish(report.comparison);
    write_page(report::page_html(report::page_compare(report, flame), "compare"),
               options.outputs.page, files);
  }
  return {.status = options.gate ? gate_status(report.comparison.outcome) : 0};
}

}  // namespace

Command compare_command() {
  auto options = std::make_shared<CompareOptions>();
  Command command = {"compare", "What got slower or faster between runs, and how certain that is",
                     kCompareNotes};
  command.positional("BEFORE", &options->base, "The runs before: traces or profiles");
  command.option("--with", &options->current, "The runs to compare with them");
  command.options.back().type = "NOW";
  command.option("--threshold", &options->settings.threshold_pct,
                 "Smallest change that counts, in percent", {0.1, 1000});
  command.option(
      "--repeat", &options->repeat,
      "Record two commands, given after -- and separated by :::, this many times each, to "
      "the next free before-N.pftrace and now-N.pftrace",
      {1, 1000});
  command.option("--history", &options->history,
                 "Find in a series of runs, oldest first, where operations changed");
  command.option("--gate", &options->gate, "Turn the verdict into an exit status, for CI");
  command.option("--single-run-gate", &options->settings.single_run_decides,
                 "Let one run per side decide by the threshold alone, noise included");
  command.option("--all", &options->settings.all_operations,
                 "Include operations below 0.01 % of the time");
  command.top(options->top);
  command.json(options->outputs);
  command.option("-o,--output", &options->outputs.page, "Write the page: one HTML file");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
