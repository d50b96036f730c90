#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/outputs.h"
#include "cli/put.h"
#include "cli/record_run.h"
#include "record/launch/launch.h"
#include "record/launch/run_parts.h"
#include "report/memory_report.h"
#include "report/page/page.h"
#include "report/page/summary.h"
#include "report/run_report.h"

namespace fathom::cli {
namespace {

constexpr const char* kDefaultRun = "run.pftrace";
constexpr const char* kExamples = R"(
With a program, what Fathom says goes to standard error, and the exit status is the program's:
127 where there is no such program, 126 where it cannot be run.

Examples:
  fathom memory run.pftrace
  fathom memory trace.json.gz --top 30
  fathom memory snapshot.pickle -o memory.html        to look at
  fathom memory trace.json.gz --json memory.json
  fathom memory -- ./app --size 4096
  fathom memory -o app.pftrace --interval 5 -- python3 train.py)";

struct Options {
  std::vector<std::string> what;
  Outputs outputs;  // of a program, the page is the run file
  double interval_ms = 10;
  std::size_t top = 10;
};

// What a program writes to standard output stays its own: of its run, all goes to `stream`.
void show(const Options& options, const trace::Trace& trace, const std::string& path,
          std::FILE* stream) {
  const Outputs& outputs = options.outputs;
  const report::MemoryReport report = report::make_memory_report(trace, path);
  if (outputs.wants_json && outputs.json.empty()) {
    fmt::print(stream, "{}", to_json(report, trace));
    return;
  }
  if (outputs.wants_json) put_json(to_json(report, trace), outputs.json);
  fmt::print(stream, "{}", to_text(report, trace, options.top, base::terminal_width(stream)));
}

void write_page(const trace::Trace& trace, const std::string& file, const std::string& page) {
  const report::RunReport run = report::make_report(trace, file);
  put(report::page_html({{"summary", page_summary(run, trace)}}, "memory"), page);
}

void show_file(Options options) {
  if (options.what.size() != 1) {
    throw base::Error(options.what[1], "one file at a time",
                      "To record a program, put -- before it: fathom memory -- COMMAND");
  }
  const std::string& file = options.what.front();
  const Outputs& outputs = options.outputs;
  settle(options.outputs);
  const trace::Trace trace = load(file);
  if (outputs.wants_json || outputs.page.empty()) show(options, trace, file, stdout);
  if (!outputs.page.empty()) write_page(trace, file, outputs.page);
}

void record_and_show(const Options& options) {
  will_write(options.outputs.json);
  const bool is_reserved = options.outputs.page.empty();
  const std::string output =
      is_reserved ? record::reserve_run_file(kDefaultRun) : options.outputs.page;
  record::Ended ended;
  try {
    ended = record_run(options.what, {}, options.interval_ms, output);
  } catch (...) {
    if (is_reserved) std::filesystem::remove(output);  // the name of a run that never began
    throw;
  }
  say_how_it_ended(ended);
  show(options, load(output), output, stderr);
  if (options.outputs.wants_text()) {
    fmt::print(stderr, "  {:<44} this again; --top, --json, -o memory.html\n\n",
               "fathom memory " + output);
  }
  std::fflush(stderr);
  record::end_like(ended);
}

}  // namespace

void add_memory(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "memory", "Memory over time: the peak and who caused it, what was never freed");
  CLI::Option* input =
      command
          ->add_option("FILE", options->what,
                       "A run or trace; or, after --, a program to record and its arguments")
          ->required();
  command->add_option("-o,--output", options->outputs.page,
                      "Write a page to look at; with a program, the run file "
                      "(run.pftrace, or the next free run-N.pftrace)");
  command
      ->add_option("--interval", options->interval_ms,
                   "With a program: milliseconds between samples of the host's memory")
      ->check(number(1, 10'000))
      ->capture_default_str();
  command->add_option("--top", options->top, "Rows a table")
      ->check(whole_number(0))
      ->capture_default_str();
  add_json(*command, options->outputs, input);
  command->footer(kExamples);
  command->callback([options, command] {
    // CLI11 keeps the mark of positionals, and nothing else can be left over.
    const bool is_program = !command->remaining().empty();
    is_program ? record_and_show(*options) : show_file(*options);
  });
}

}  // namespace fathom::cli
