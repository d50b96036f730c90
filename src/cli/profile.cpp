#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/format.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/put.h"
#include "cli/record_run.h"
#include "record/cuda/driver_check.h"
#include "record/launch/injection.h"
#include "record/launch/launch.h"
#include "record/launch/run_parts.h"
#include "report/run_report.h"
#include "report/text/session_text.h"

namespace fathom::cli {
namespace {

constexpr const char* kDefaultRun = "run.pftrace";
constexpr const char* kExamples = R"(
What Fathom says goes to standard error; standard output is the program's alone. The exit status is the
program's: 127 where there is no such program, 126 where it cannot be run.

Examples:
  fathom profile -- ./app --size 4096
  fathom profile -o before.pftrace -- python3 train.py
  fathom profile --repeat 5 -- ./app
  fathom profile --json session.json -- ./app)";

struct Options {
  std::vector<std::string> command;
  std::string output;
  bool wants_json = false;
  std::string json;  // a file; standard error where it is empty
  double memory_interval_ms = 10;
  bool no_opencl = false;
  bool no_cuda = false;
  bool api = false;
  int repeat = 1;
};

// Said where it matters: CUDA was to be recorded, and cannot be.
void say_what_cuda_lacks(const Options& options, const ProfileSession& session) {
  if (options.no_cuda) return;
  const bool is_built = !record::recorder_library("libfathom_cuda.so").empty();
  if (!is_built && session.gpu_time_ms) return;
  const record::cuda::DriverCheck driver = record::cuda::check_cuda_driver();
  if (!driver.found) {
    fmt::print(stderr, "  {}\n\n", base::dim(driver.line, stderr));
  } else if (!is_built) {
    fmt::print(
        stderr, "  {}\n\n",
        base::dim("this build of Fathom has no CUDA recorder: CUDA work is not recorded", stderr));
  }
}

void say_what_next(const std::string& run) {
  const std::pair<std::string, std::string_view> commands[] = {
      {"fathom report " + run + " -o report.html", "look at it"},
      {"fathom memory " + run, "memory over time, the peak, what was never freed"},
      {"fathom flame " + run, "which calls led to which kernels"},
      {"fathom convert " + run + " trace.json", "for other viewers (or ui.perfetto.dev)"}};
  for (const auto& [command, what] : commands) fmt::print(stderr, "  {:<44} {}\n", command, what);
  fmt::print(stderr, "\n");
}

void write_json(const Options& options, const ProfileSession& session) {
  const std::string json = report::to_json(session);
  if (options.json.empty()) {
    fmt::print(stderr, "{}", json);
  } else {
    put_json(json, options.json);
  }
}

void show(const Options& options, const std::string& output) {
  const trace::Trace trace = load(output);
  const report::RunReport report = report::make_report(trace, output);
  if (options.wants_json) write_json(options, report.session);
  if (options.wants_json && options.json.empty()) return;
  fmt::print(stderr, "{}", to_text(report, trace, 10, base::terminal_width(stderr)));
  say_what_cuda_lacks(options, report.session);
  say_what_next(output);
}

std::string output_of(const Options& options, int run) {
  if (options.output.empty()) {
    return options.repeat == 1 ? record::reserve_run_file(kDefaultRun)
                               : record::reserve_numbered_run_file(kDefaultRun);
  }
  return options.repeat == 1 ? options.output : record::numbered(options.output, run);
}

ProfileSession session_of(const std::string& run) {
  const trace::Trace trace = load(run);
  return report::make_report(trace, run).session;
}

void run(const Options& options) {
  will_write(options.json);
  record::Ended ended;
  std::vector<ProfileSession> sessions;
  std::string output;
  for (int i = 1; i <= options.repeat && ended.signal == 0 && ended.exit_status == 0; ++i) {
    output = output_of(options, i);
    try {
      ended = record_run(
          options.command,
          {.opencl = !options.no_opencl, .cuda = !options.no_cuda, .every_call = options.api},
          options.memory_interval_ms, output);
    } catch (...) {
      // The name that was reserved for a run that never began.
      if (options.output.empty()) std::filesystem::remove(output);
      throw;
    }
    say_how_it_ended(ended);
    if (options.repeat > 1) sessions.push_back(session_of(output));
  }
  if (sessions.size() > 1) {
    fmt::print(stderr, "{}", report::sessions_text(sessions, base::terminal_width(stderr)));
  }
  show(options, output);
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
      ->check(number(1, 10'000))
      ->capture_default_str();
  command->add_flag("--no-opencl", options->no_opencl, "Leave OpenCL alone");
  command->add_flag("--no-cuda", options->no_cuda, "Leave CUDA alone");
  command->add_flag("--api", options->api, "Record every call of the GPU runtime, small ones too");
  command->add_option("--repeat", options->repeat, "Record so many runs, a file each")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  CLI::Option* json = command
                          ->add_option("--json", options->json,
                                       "The session of the (last) run as JSON: to this file, or "
                                       "to standard error in place of the text")
                          ->expected(0, 1);
  command->positionals_at_end();
  command->footer(kExamples);
  command->callback([options, json] {
    options->wants_json = json->count() > 0;
    run(*options);
  });
}

}  // namespace fathom::cli
