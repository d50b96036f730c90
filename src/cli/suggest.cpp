#include <memory>

#include "advise/compile_suggestions.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/compile_logs.h"
#include "cli/host_time.h"
#include "explain/analysis.h"
#include "report/suggest_report.h"

namespace fathom::cli {
namespace {

constexpr const char* kSuggestNotes = R"(
Gains are estimated by replaying the trace with the change. They are given only if a replay without
changes matches the run within 3 %. docs/suggestions.md has the rules.

Examples:
  fathom suggest trace.json.gz
  fathom suggest run.pftrace --critical
  fathom suggest trace.json.gz --top 3 --json suggestions.json
  fathom suggest trace.json.gz --compile logs/       with what torch.compile logged
  fathom suggest profile.json --json | python3 -m json.tool)";

struct SuggestOptions {
  std::string file;
  std::string compile;  // logs of torch.compile
  std::string peak;
  Outputs outputs;
  bool critical = false;
  bool all = false;
  std::size_t top = 10;
};

Ending run(SuggestOptions options, Files& files) {
  resolve(options.outputs, files);
  const analyze::DevicePeaks peaks = analyze::parse_peaks(options.peak);
  const trace::Trace trace = files.load(options.file);
  const explain::Analysis analysis(trace, options.file, peaks, host_time_of_this_machine());
  std::vector<advise::Suggestion> others;
  if (!options.compile.empty()) {
    others = advise::compile_suggestions(
        analyze::compile_findings(read_compile_logs(options.compile, files)),
        analysis.suggestions(options.all).run_ns);
  }
  const report::SuggestReport report =
      report::make_suggest_report(analysis, options.all, options.critical, others);
  if (options.outputs.wants_json) {
    write_json(to_json(report, options.top), options.outputs.json, files);
  }
  if (options.outputs.wants_text()) {
    write_text(to_text(report, options.top, base::terminal_width(stdout)), {}, files);
  }
  return {};
}

}  // namespace

Command suggest_command() {
  auto options = std::make_shared<SuggestOptions>();
  Command command = {"suggest", "What to change, and what it would save", kSuggestNotes};
  command.positional("TRACE", &options->file, "A trace or profile of any format Fathom reads");
  command.top(options->top, "Suggestions to show; 0 for all");
  command.option("--critical", &options->critical, "Only those that save 20 % or more");
  command.option("--all", &options->all, "Include those that save less than 3 %");
  command.option("--compile", &options->compile,
                 "Logs of torch.compile (TORCH_TRACE) of the same program: a file or a folder");
  command.peak(options->peak);
  command.json(options->outputs);
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
