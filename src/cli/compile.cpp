#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyze/compile/log_records.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "explain/analysis.h"
#include "report/compile_report.h"
#include "trace/read/input.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCompileNotes = R"(
To record what torch.compile does: TORCH_TRACE=logs python train.py. It writes a log per process; the
logs of a folder are the ranks of one job.

Examples:
  fathom compile logs/
  fathom compile dedicated_log_torch_trace_rank_0.log --top 30
  fathom compile logs/ --json compile.json
  fathom compile logs/ --trace compiled.json.gz --eager eager.json.gz)";

struct CompileOptions {
  std::string source;
  std::string trace;
  std::string eager;
  Outputs outputs;
  std::size_t top = 10;
};

// A folder holds other files too: what is no log is left out.
std::vector<analyze::CompileLog> read_folder(const std::string& folder, Files& files) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() > 0) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<analyze::CompileLog> logs;
  for (const fs::path& path : paths) {
    const auto input = trace::Input::open(path.string());
    if (!analyze::is_compile_log(input->head())) continue;
    files.will_read(path.string());
    logs.push_back(analyze::read_compile_log(*input));
  }
  if (logs.empty()) {
    throw base::Error(folder, "no log of torch.compile in this folder",
                      "Record one: TORCH_TRACE=logs python train.py");
  }
  return logs;
}

std::vector<analyze::CompileLog> read_logs(const std::string& source, Files& files) {
  std::error_code unknown;
  if (fs::is_directory(source, unknown)) return read_folder(source, files);
  files.will_read(source);
  std::vector<analyze::CompileLog> logs;
  logs.push_back(analyze::read_compile_log(*trace::Input::open(source)));
  return logs;
}

// What a step takes; the run, where the trace has no steps.
std::pair<std::int64_t, bool> step_time(const std::string& path, Files& files) {
  const trace::Trace trace = files.load(path);
  const explain::Analysis analysis(trace, path);
  if (const auto step = analysis.run_shares().step_ns) return {*step, true};
  return {analysis.wall().length_ns(), false};
}

report::CompileSpeedup compare_traces(const CompileOptions& options, Files& files) {
  const auto [compiled, has_steps] = step_time(options.trace, files);
  const auto [eager, eager_has_steps] = step_time(options.eager, files);
  if (has_steps != eager_has_steps) {
    throw base::Error(has_steps ? options.eager : options.trace,
                      "has no profiler steps, and the other trace has",
                      "Record both with the same steps");
  }
  return {.eager_ns = eager, .compiled_ns = compiled, .is_of_steps = has_steps};
}

Ending run(CompileOptions options, Files& files) {
  if (options.trace.empty() != options.eager.empty()) {
    throw BadUsage("--trace and --eager go together: a trace compiled, and one that is not");
  }
  resolve(options.outputs, files);
  report::CompileReport report{.source = options.source, .found = {}, .speedup = {}};
  report.found = analyze::compile_findings(read_logs(options.source, files));
  if (!options.trace.empty()) report.speedup = compare_traces(options, files);
  if (options.outputs.wants_json) write_json(to_json(report), options.outputs.json, files);
  if (options.outputs.wants_text()) {
    write_text(to_text(report, options.top, base::terminal_width(stdout)), {}, files);
  }
  return {};
}

}  // namespace

Command compile_command() {
  auto options = std::make_shared<CompileOptions>();
  Command command = {"compile", "What torch.compile did: time, graph breaks, recompilations",
                     kCompileNotes};
  command.positional("LOG", &options->source,
                     "A log of TORCH_TRACE, or a folder with one per rank");
  command.top(options->top);
  command.option("--trace", &options->trace, "A trace of the compiled program, for the speedup");
  command.option("--eager", &options->eager, "A trace of the same program, not compiled");
  command.json(options->outputs);
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
