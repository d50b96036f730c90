#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/record_run.h"
#include "explain/analysis.h"
#include "record/launch/launch.h"
#include "record/launch/run_parts.h"
#include "report/memory_report.h"
#include "report/page/memory_block.h"
#include "report/page/page.h"
#include "report/page/summary.h"

namespace fathom::cli {
namespace {

constexpr const char* kMemoryNotes = R"(
With a program, the report goes to standard error. The exit status is the program's, or 127 if the
program is not found and 126 if it cannot be run.

Examples:
  fathom memory run.pftrace
  fathom memory trace.json.gz --top 30
  fathom memory snapshot.pickle -o memory.html        as a page
  fathom memory trace.json.gz --json memory.json
  fathom memory -- ./app --size 4096
  fathom memory -o app.pftrace --interval 5 -- python3 train.py)";

constexpr double kUsualIntervalMs = 10;

struct MemoryOptions {
  std::vector<std::string> what;
  bool is_program = false;
  Outputs outputs;  // of a program, the page is the run file
  bool force = false;
  double interval_ms = kUsualIntervalMs;
  std::size_t top = 10;
};

// What a program writes to standard output stays its own: of its run, all goes to `stream`.
void show(const MemoryOptions& options, const explain::Analysis& analysis, std::FILE* stream,
          Files& files) {
  const Outputs& outputs = options.outputs;
  const trace::Trace& trace = analysis.trace();
  const report::MemoryReport report = report::make_memory_report(analysis);
  if (outputs.wants_json && outputs.json.empty()) {
    base::say(stream, to_json(report, trace));
    return;
  }
  if (outputs.wants_json) write_json(to_json(report, trace), outputs.json, files);
  if (!outputs.wants_text()) return;
  base::say(stream, to_text(report, trace, options.top, base::terminal_width(stream)));
}

[[noreturn]] void expect_recording(const std::string& option, const std::string& example) {
  throw BadUsage(fmt::format(
      "{} applies only when a program is recorded: fathom memory {}-- COMMAND", option, example));
}

Ending show_file(MemoryOptions options, Files& files) {
  if (options.what.size() != 1) {
    throw base::Error(options.what[1], "one file at a time",
                      "To record a program, put -- before it: fathom memory -- COMMAND");
  }
  if (options.interval_ms != kUsualIntervalMs) expect_recording("--interval", "--interval 5 ");
  if (options.force) expect_recording("--force", "-o run.pftrace --force ");
  const std::string& file = options.what.front();
  const Outputs& outputs = options.outputs;
  resolve(options.outputs, files);
  const trace::Trace trace = files.load(file);
  const explain::Analysis analysis(trace, file);
  if (outputs.wants_json || outputs.page.empty()) show(options, analysis, stdout, files);
  if (!outputs.page.empty()) {
    report::PageData data = {{"summary", report::page_summary(analysis)}};
    if (std::string memory = report::page_memory(analysis); !memory.empty()) {
      data.emplace_back("memory", std::move(memory));
    }
    write_page(report::page_html(data, "memory"), outputs.page, files);
  }
  return {};
}

Ending record_and_show(const MemoryOptions& options, Files& files) {
  expect_no_standard_output(options.outputs.page, options.outputs.json);
  expect_json(options.outputs, files);
  const bool is_reserved = options.outputs.page.empty();
  const std::string output =
      is_reserved ? record::reserve_run_file(kDefaultRun) : options.outputs.page;
  RecordedRun run;
  try {
    run = record_run(options.what, {}, options.interval_ms, {output, options.force}, files);
  } catch (...) {
    if (is_reserved) std::filesystem::remove(output);  // the name of a run that never began
    throw;
  }
  say_of_run([&] {
    say_how_it_ended(run);
    if (run.readable.empty()) return;
    const trace::Trace trace = files.load(run.readable);
    show(options, explain::Analysis(trace, output), stderr, files);
    if (options.outputs.wants_text() && run.readable == output) {
      base::say(stderr,
                fmt::format(
                    "  {:<44} show this report again (options: --top, --json, -o memory.html)\n\n",
                    "fathom memory " + base::shell_word(output)));
    }
  });
  return {run.ended.exit_status, run.ended.signal, true};
}

}  // namespace

Command memory_command() {
  auto options = std::make_shared<MemoryOptions>();
  Command command = {"memory",
                     "Memory over time: the peak and what caused it, what was never freed",
                     kMemoryNotes};
  command.positional("FILE", &options->what,
                     "A run or trace; or, after --, a program to record and its arguments");
  command.has_mark = &options->is_program;
  command.option("-o,--output", &options->outputs.page,
                 "Write the page; with a program, the run file "
                 "(run.pftrace, or the next free run-N.pftrace)");
  command.option("--force", &options->force,
                 "With a program: overwrite the output file even if it is not a Fathom run");
  command.option("--interval", &options->interval_ms,
                 "With a program: milliseconds between samples of host memory", {1, 10'000});
  command.top(options->top);
  command.json(options->outputs);
  command.run = [options](Files& files) {
    return options->is_program ? record_and_show(*options, files) : show_file(*options, files);
  };
  return command;
}

}  // namespace fathom::cli
