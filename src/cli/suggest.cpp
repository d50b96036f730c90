#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "advise/suggest.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/outputs.h"
#include "cli/put.h"
#include "report/suggest_report.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples = R"(
Gains come from replaying the trace with the change in it, and are told only where the replay without
any change takes as long as the run did, within 3 %. docs/suggestions.md has the rules.

Examples:
  fathom suggest trace.json.gz
  fathom suggest run.pftrace --critical
  fathom suggest trace.json.gz --top 3 --json suggestions.json
  fathom suggest profile.json --json | python3 -m json.tool)";

struct Options {
  std::string file;
  Outputs outputs;
  bool critical = false;
  bool all = false;
  std::size_t top = 10;
};

void run(Options options) {
  settle(options.outputs);
  const trace::Trace trace = load(options.file);
  report::SuggestReport report{trace, options.file, advise::suggest(trace, options.all)};
  if (options.critical) {
    report.not_critical = std::erase_if(report.found.list, [](const advise::Suggestion& one) {
      return one.priority != advise::Priority::critical;
    });
  }
  if (options.outputs.wants_json) put_json(to_json(report, options.top), options.outputs.json);
  if (options.outputs.wants_text()) {
    put(to_text(report, options.top, base::terminal_width(stdout)), {});
  }
}

}  // namespace

void add_suggest(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("suggest", "What to change, and what it would bring");
  CLI::Option* input =
      command->add_option("TRACE", options->file, "A trace or profile of any format Fathom reads")
          ->required();
  command->add_option("--top", options->top, "How many")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_flag("--critical", options->critical, "Only those that bring 20 % or more");
  command->add_flag("--all", options->all, "Those that bring less than 0.5 %, too");
  add_json(*command, options->outputs, input);
  command->footer(kExamples);
  command->callback([options] { run(*options); });
}

}  // namespace fathom::cli
