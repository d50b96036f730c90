#include <memory>

#include "base/error.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/compile_logs.h"
#include "explain/analysis.h"
#include "report/compile_report.h"
#include "report/page/compile.h"
#include "report/page/run_page.h"

namespace fathom::cli {
namespace {

constexpr const char* kCompileNotes = R"(
To record what torch.compile does: TORCH_TRACE=logs python train.py. It writes one log per process; the
logs of a folder are the ranks of one job.

Examples:
  fathom compile logs/
  fathom compile dedicated_log_torch_trace_rank_0.log --top 30
  fathom compile logs/ --json compile.json
  fathom compile logs/ -o compile.html
  fathom compile logs/ --trace compiled.json.gz -o report.html       the tab Compile beside all others
  fathom compile logs/ --trace compiled.json.gz --eager eager.json.gz
  fathom suggest compiled.json.gz --compile logs/)";

struct CompileOptions {
  std::string source;
  std::string trace;
  std::string eager;
  Outputs outputs;
  std::size_t top = 10;
};

struct StepTime {
  std::int64_t ns = 0;
  bool is_of_step = false;  // else of the run, because the trace has no steps
};

StepTime step_time(const explain::Analysis& analysis) {
  if (const auto step = analysis.run_shares().step_ns) return {*step, true};
  return {analysis.wall().length_ns(), false};
}

report::CompileSpeedup speedup(const CompileOptions& options, const explain::Analysis& compiled,
                               Files& files) {
  const trace::Trace trace = files.load(options.eager);
  const StepTime eager = step_time(explain::Analysis(trace, options.eager));
  const StepTime now = step_time(compiled);
  if (now.is_of_step != eager.is_of_step) {
    throw base::Error(now.is_of_step ? options.eager : options.trace,
                      "has no profiler steps, and the other trace has",
                      "Record both with the same steps");
  }
  return {.eager_ns = eager.ns, .compiled_ns = now.ns, .is_of_steps = now.is_of_step};
}

void write_outputs(const CompileOptions& options, const report::CompileReport& report,
                   const explain::Analysis* trace, Files& files) {
  const Outputs& outputs = options.outputs;
  if (outputs.wants_json) write_json(to_json(report), outputs.json, files);
  if (outputs.wants_text()) {
    write_text(to_text(report, options.top, base::terminal_width(stdout)), {}, files);
  }
  if (outputs.page.empty()) return;
  write_page(trace == nullptr ? report::compile_page(report)
                              : report::run_page(*trace, {{"compile", to_json(report)}}, "compile"),
             outputs.page, files);
}

Ending run(CompileOptions options, Files& files) {
  if (options.trace.empty() && !options.eager.empty()) {
    throw BadUsage("--eager needs --trace: a trace that is compiled, to compare with");
  }
  resolve(options.outputs, files);
  while (options.source.size() > 1 && options.source.ends_with('/')) options.source.pop_back();
  report::CompileReport report;
  report.source = options.source;
  report.found = analyze::compile_findings(read_compile_logs(options.source, files));
  if (options.trace.empty()) {
    write_outputs(options, report, nullptr, files);
    return {};
  }
  const trace::Trace trace = files.load(options.trace);
  const explain::Analysis analysis(trace, options.trace);
  report.trace = options.trace;
  report.share = analyze::compiled_share(trace, analysis.gpu_work());
  if (!options.eager.empty()) report.speedup = speedup(options, analysis, files);
  write_outputs(options, report, &analysis, files);
  return {};
}

}  // namespace

Command compile_command() {
  auto options = std::make_shared<CompileOptions>();
  Command command = {"compile", "What torch.compile did: time, graph breaks, recompilations",
                     kCompileNotes};
  command.positional("LOG", &options->source,
                     "A log of TORCH_TRACE, or a folder with one per rank");
  command.option("-o,--output", &options->outputs.page, "Write the page: one HTML file");
  command.top(options->top);
  command.option("--trace", &options->trace,
                 "A trace of the compiled program: how much of its GPU work is compiled");
  command.option("--eager", &options->eager,
                 "A trace of the same program, not compiled: with --trace, the speedup");
  command.json(options->outputs);
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
