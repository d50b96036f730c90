#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "base/format.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "record/launch/injection.h"
#include "record/launch/launch.h"
#include "record/launch/run_parts.h"
#include "record/launch/run_trace.h"
#include "report/run_report.h"

namespace fathom::cli {
namespace {

constexpr const char* kDefaultRun = "run.pftrace";
constexpr const char* kExamples = R"(
What Fathom says goes to standard error; standard output is the program's alone. The exit status is the
program's.

Examples:
  fathom profile -- ./app --size 4096
  fathom profile -o before.pftrace -- python3 train.py
  fathom profile --repeat 5 -- ./app
  fathom profile --json session.json -- ./app)";

struct Options {
  std::vector<std::string> command;
  std::string output;
  std::string json;
  double memory_interval_ms = 10;
  bool no_opencl = false;
  bool no_cuda = false;
  bool api = false;
  int repeat = 1;
};

void say_how_it_ended(const record::Ended& ended) {
  if (ended.signal != 0) {
    fmt::print(stderr,
               "fathom: the program was ended by signal {} ({}); what it did until then is here\n",
               ended.signal, strsignal(ended.signal));
  } else if (ended.exit_status != 0) {
    fmt::print(stderr, "fathom: the program ended with status {}\n", ended.exit_status);
  }
}

void say_what_next(const std::string& run) {
  fmt::print(stderr, "  {:<44} {}\n  {:<44} {}\n\n", "fathom report " + run,
             "this again; --top, --json", "fathom convert " + run + " trace.json",
             "for other viewers (or open it in ui.perfetto.dev)");
}

// One run of the command, recorded to `output`.
record::Ended record_once(const Options& options, const std::string& output) {
  record::RunParts parts(output);
  const record::Environment environment =
      record::environment_for({parts.pattern(), !options.no_opencl, !options.no_cuda, options.api});
  const auto interval =
      std::chrono::microseconds(static_cast<std::int64_t>(options.memory_interval_ms * 1000));
  const record::Launched launched = record::launch(options.command, environment, interval);
  const record::JoinedRun joined = parts.join(record::run_trace(options.command, launched));
  for (const std::string& part : joined.still_going) {
    fmt::print(stderr, "fathom: {}: a process of the run still goes on and writes there\n", part);
  }
  return launched.ended;
}

void show(const Options& options, const std::string& output) {
  const trace::Trace trace = load(output);
  const report::RunReport report = report::make_report(trace, output);
  fmt::print(stderr, "{}", to_text(report, trace, 10, base::terminal_width(stderr)));
  if (!options.json.empty()) {
    std::ofstream file(options.json, std::ios::binary);
    file << to_json(report, trace);
    if (!file.flush()) throw base::Error(options.json, "cannot be written");
  }
  say_what_next(output);
}

std::string output_of(const Options& options, int run) {
  if (options.output.empty()) return record::reserve_run_file(kDefaultRun);
  if (options.repeat == 1) return options.output;
  const std::filesystem::path path(options.output);
  return (path.parent_path() /
          fmt::format("{}-{}{}", path.stem().string(), run, path.extension().string()))
      .string();
}

void run(const Options& options) {
  record::Ended ended;
  for (int i = 1; i <= options.repeat; ++i) {
    const std::string output = output_of(options, i);
    try {
      ended = record_once(options, output);
    } catch (...) {
      // The name that was reserved for a run that never began.
      if (options.output.empty()) std::filesystem::remove(output);
      throw;
    }
    say_how_it_ended(ended);
    if (options.repeat > 1) {
      fmt::print(stderr, "fathom: run {} of {}: {}, {}\n", i, options.repeat, output,
                 base::format_duration(static_cast<double>(ended.end_ns - ended.begin_ns)));
    }
    const bool is_last = i == options.repeat || ended.signal != 0 || ended.exit_status != 0;
    if (is_last) {
      show(options, output);
      break;
    }
  }
  std::fflush(stderr);
  record::end_like(ended);
}

}  // namespace

void add_profile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("profile", "Runs a program and records what it does on the GPU");
  command->add_option("COMMAND", options->command, "The program and its arguments, after --")
      ->required();
  command->add_option("-o,--output", options->output,
                      "The run file to write (run.pftrace, or the next free run-N.pftrace)");
  command
      ->add_option("--memory-interval", options->memory_interval_ms,
                   "Milliseconds between memory samples")
      ->check(CLI::Range(1.0, 10'000.0))
      ->capture_default_str();
  command->add_flag("--no-opencl", options->no_opencl, "Leave OpenCL alone");
  command->add_flag("--no-cuda", options->no_cuda, "Leave CUDA alone");
  command->add_flag("--api", options->api, "Record every call of the GPU runtime, small ones too");
  command->add_option("--repeat", options->repeat, "Record so many runs, a file each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", options->json,
                      "Write the report of the (last) run to this file as JSON");
  command->positionals_at_end();
  command->footer(kExamples);
  command->callback([options] { run(*options); });
}

}  // namespace fathom::cli
