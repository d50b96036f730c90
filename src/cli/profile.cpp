#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/format.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/host_time.h"
#include "cli/record_run.h"
#include "explain/analysis.h"
#include "record/cuda/driver_check.h"
#include "record/launch/injection.h"
#include "record/launch/launch.h"
#include "record/launch/run_parts.h"
#include "record/launch/run_target.h"
#include "record/python/python_layout.h"
#include "report/run_report.h"
#include "report/text/session_text.h"

namespace fathom::cli {
namespace {

constexpr const char* kProfileNotes = R"(
The report goes to standard error; standard output is the program's alone. The exit status is the
program's, or 127 if the program is not found and 126 if it cannot be run.

Examples:
  fathom profile -- ./app --size 4096
  fathom profile -o before.pftrace -- python3 train.py
  fathom profile --python -- python3 train.py       its functions, too
  fathom profile --repeat 5 -- ./app
  fathom profile --json session.json -- ./app)";

struct ProfileOptions {
  std::vector<std::string> command;
  std::string output;
  bool force = false;
  Outputs outputs;  // standard error in place of standard output
  double memory_interval_ms = 10;
  bool no_opencl = false;
  bool no_cuda = false;
  bool api = false;
  bool python = false;
  int repeat = 1;
  std::size_t top = 10;
};

// The one text with colour in it.
void say_aside(std::string_view line) {
  const std::string text = "  " + base::dim(base::printable(line), stderr) + "\n\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// Said where it matters: CUDA was to be recorded, and cannot be.
void say_what_cuda_lacks(const ProfileOptions& options, const ProfileSession& session) {
  if (options.no_cuda) return;
  const bool is_built = !record::recorder_library("libfathom_cuda.so").empty();
  if (!is_built && session.gpu_ns) return;
  const record::cuda::DriverCheck driver = record::cuda::check_cuda_driver();
  if (!driver.found) {
    say_aside(driver.line);
  } else if (!is_built) {
    say_aside("this build of Fathom has no CUDA recorder: CUDA work is not recorded");
  }
}

// Said where it matters: Python was to be sampled, and was not.
void say_what_python_lacks(const record::PythonOutcome& python) {
  if (python.not_allowed) {
    say_aside(
        "Python was not sampled: this system does not allow to read the memory of the program "
        "(kernel.yama.ptrace_scope, or a container without the right to)");
  } else if (python.unknown_minor >= 0) {
    say_aside(
        fmt::format("Python 3.{} was not sampled: CPython 3.{} to 3.{} with a global lock are",
                    python.unknown_minor, record::kOldestPython, record::kNewestPython));
  } else if (!python.found) {
    say_aside("--python: the program and its children had no Python interpreter to sample");
  }
}

void say_what_next(const std::string& file, bool has_spans) {
  const std::string run = base::shell_word(file);
  const std::pair<std::string, std::string_view> commands[] = {
      {"fathom report " + run + " -o report.html", "open in a browser"},
      {"fathom memory " + run, "memory over time, the peak, what was never freed"},
      {"fathom flame " + run, "which calls led to which kernels"},
      {"fathom convert " + run + " trace.json", "for other viewers (or ui.perfetto.dev)"}};
  for (const auto& [command, what] : commands) {
    if (!has_spans && command.starts_with("fathom flame")) continue;  // it would be empty
    base::say(stderr, fmt::format("  {:<44} {}\n", command, what));
  }
  base::say(stderr, "\n");
}

void write_session(const ProfileSession& session, const Outputs& outputs, Files& files) {
  const std::string json = report::to_json(session);
  if (outputs.json.empty()) {
    base::say(stderr, json);
  } else {
    write_json(json, outputs.json, files);
  }
}

// A run that was recorded, as it was read again: from `readable`, which is not where it went where
// that is a pipe or a device.
struct RunToShow {
  RunToShow(const std::string& readable, const std::string& output, Files& files)
      : is_readable_there(readable == output),
        trace(files.load(readable)),
        analysis(trace, output, {}, host_time_of_this_machine()) {}

  bool is_readable_there;
  trace::Trace trace;
  explain::Analysis analysis;
};

void show(const ProfileOptions& options, const RunToShow& run, Files& files) {
  const report::RunReport report = report::make_report(run.analysis);
  if (options.outputs.wants_json) write_session(report.session, options.outputs, files);
  if (!options.outputs.wants_text()) return;
  base::say(stderr, to_text(report, run.trace, options.top, base::terminal_width(stderr)));
  say_what_cuda_lacks(options, report.session);
  if (run.is_readable_there) say_what_next(run.analysis.source(), run.trace.spans.size() > 0);
}

std::string output_of(const ProfileOptions& options, int run) {
  if (options.output.empty()) {
    return options.repeat == 1 ? record::reserve_run_file(kDefaultRun)
                               : record::reserve_numbered_run_file(kDefaultRun);
  }
  return options.repeat == 1 ? options.output : record::numbered(options.output, run);
}

// Before the first of them starts: what stands where the files of the runs are to go.
void expect_numbered_files(const ProfileOptions& options) {
  if (options.output.empty() || options.repeat == 1) return;
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::exists(options.output, unknown) && !fs::is_regular_file(options.output, unknown)) {
    throw base::Error(options.output, "is not a file", "Name a file for the runs of --repeat");
  }
  for (int i = 1; i <= options.repeat; ++i) {
    const record::RunTarget target(record::numbered(options.output, i), options.force);
  }
}

Ending run(const ProfileOptions& options, Files& files) {
  expect_no_standard_output(options.output, options.outputs.json);
  expect_json(options.outputs, files);
  expect_numbered_files(options);
  RecordedRun recorded;
  const record::Ended& ended = recorded.ended;
  std::vector<ProfileSession> sessions;
  std::optional<RunToShow> last;
  int i = 1;
  for (; i <= options.repeat && ended.signal == 0 && ended.exit_status == 0; ++i) {
    const std::string output = output_of(options, i);
    try {
      recorded = record_run(options.command,
                            {.opencl = !options.no_opencl,
                             .cuda = !options.no_cuda,
                             .every_call = options.api,
                             .python = options.python},
                            options.memory_interval_ms, {output, options.force}, files);
    } catch (...) {
      // The name that was reserved for a run that never began.
      if (options.output.empty()) std::filesystem::remove(output);
      throw;
    }
    say_of_run([&] {
      last.reset();
      say_how_it_ended(recorded);
      if (recorded.readable.empty()) return;
      last.emplace(recorded.readable, output, files);
      if (options.repeat > 1) sessions.push_back(last->analysis.session());
    });
  }
  say_of_run([&] {
    if (!options.output.empty() && options.repeat > 1) {
      record::remove_stale_runs(options.output, i, options.repeat);
    }
    if (sessions.size() > 1) {
      base::say(stderr, report::sessions_text(sessions, base::terminal_width(stderr)));
    }
    if (last) show(options, *last, files);
    if (recorded.python && options.outputs.wants_text()) say_what_python_lacks(*recorded.python);
  });
  return {ended.exit_status, ended.signal, true};
}

}  // namespace

Command profile_command() {
  auto options = std::make_shared<ProfileOptions>();
  Command command = {"profile", "Runs a program and records what it does on the GPU",
                     kProfileNotes};
  command.positional("COMMAND", &options->command, "The program and its arguments, after --");
  command.options_come_first = true;
  command.option("-o,--output", &options->output,
                 "The run file to write (run.pftrace, or the next free run-N.pftrace)");
  command.option("--force", &options->force,
                 "Overwrite the output file even if it is not a Fathom run");
  command.option("--memory-interval", &options->memory_interval_ms,
                 "Milliseconds between memory samples", {1, 10'000});
  command.option("--no-opencl", &options->no_opencl, "Do not record OpenCL");
  command.option("--no-cuda", &options->no_cuda, "Do not record CUDA");
  command.option("--api", &options->api, "Record every GPU runtime call, even small ones");
  command.option("--python", &options->python,
                 "Sample the functions of Python programs (CPython 3.8 to 3.13), from outside");
  command.option("--repeat", &options->repeat, "Number of runs to record, one file per run",
                 {1, 1000});
  command.top(options->top);
  command.json(options->outputs,
               "The session as JSON (of the last run with --repeat): to FILE, or to standard error "
               "instead of the text",
               JsonWord::is_a_file);
  options->outputs.document = "session";
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
