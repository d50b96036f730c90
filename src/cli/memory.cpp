#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/put.h"
#include "cli/record_run.h"
#include "record/launch/launch.h"
#include "record/launch/run_parts.h"
#include "report/memory_report.h"
#include "report/page.h"
#include "report/page_summary.h"
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
  fathom memory trace.json.gz --json -o memory.json
  fathom memory -- ./app --size 4096
  fathom memory -o app.pftrace --interval 5 -- python3 train.py)";

struct Options {
  std::vector<std::string> what;
  std::string output;
  double interval_ms = 10;
  std::size_t top = 10;
  bool json = false;
};

std::string shown(const Options& options, const std::string& path, std::FILE* stream) {
  const trace::Trace trace = load(path);
  const report::MemoryReport report = report::make_memory_report(trace, path);
  return options.json ? to_json(report, trace)
                      : to_text(report, trace, options.top, base::terminal_width(stream));
}

void write_page(const std::string& file, const std::string& page) {
  const trace::Trace trace = load(file);
  const report::RunReport run = report::make_report(trace, file);
  put(report::page_html({{"summary", page_summary(run, trace)}}, "memory"), page);
}

void show_file(const Options& options) {
  if (options.what.size() != 1) {
    throw base::Error(options.what[1], "one file at a time",
                      "To record a program, put -- before it: fathom memory -- COMMAND");
  }
  const std::string& file = options.what.front();
  if (!options.json && !options.output.empty()) return write_page(file, options.output);
  put(shown(options, file, stdout), options.output);
}

void record_and_show(const Options& options) {
  const bool is_reserved = options.output.empty();
  const std::string output = is_reserved ? record::reserve_run_file(kDefaultRun) : options.output;
  record::Ended ended;
  try {
    ended = record_run(options.what, {}, options.interval_ms, output);
  } catch (...) {
    if (is_reserved) std::filesystem::remove(output);  // the name of a run that never began
    throw;
  }
  say_how_it_ended(ended);
  fmt::print(stderr, "{}", shown(options, output, stderr));
  if (!options.json) {
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
  command
      ->add_option("FILE", options->what,
                   "A run or trace; or, after --, a program to record and its arguments")
      ->required();
  command->add_option("-o,--output", options->output,
                      "Write a page to look at, with --json that; with a program, the run file "
                      "(run.pftrace, or the next free run-N.pftrace)");
  command
      ->add_option("--interval", options->interval_ms,
                   "With a program: milliseconds between samples of the host's memory")
      ->check(CLI::Range(1.0, 10'000.0))
      ->capture_default_str();
  command->add_option("--top", options->top, "Rows a table")->capture_default_str();
  command->add_flag("--json", options->json, "Everything, as JSON");
  command->footer(kExamples);
  command->callback([options, command] {
    // CLI11 keeps the mark of positionals, and nothing else can be left over.
    const bool is_program = !command->remaining().empty();
    try {
      is_program ? record_and_show(*options) : show_file(*options);
    } catch (const record::CannotRun& error) {
      fmt::print(stderr, "fathom: {}\n", error.what());
      std::exit(error.exit_status);
    }
  });
}

}  // namespace fathom::cli
