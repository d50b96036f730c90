#include <memory>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/host_time.h"
#include "explain/analysis.h"
#include "report/page/run_page.h"
#include "report/run_report.h"

namespace fathom::cli {
namespace {

constexpr const char* kReportNotes = R"(
Examples:
  fathom report run.pftrace
  fathom report trace.json.gz -o report.html
  fathom report trace.json.gz --top 30
  fathom report trace.json.gz --by class          GEMM, attention, elementwise, …
  fathom report trace.json.gz --json report.json
  gunzip < trace.json.gz | fathom report - -o - > report.html
  fathom report profile.json --json | python3 -m json.tool)";

struct ReportOptions {
  std::string file;
  Outputs outputs;
  std::size_t top = 10;
  std::string by = "kernel";
  std::string peak;
};

Ending run(ReportOptions options, Files& files) {
  Outputs& outputs = options.outputs;
  resolve(outputs, files);
  const analyze::DevicePeaks peaks = analyze::parse_peaks(options.peak);
  const trace::Trace trace = files.load(options.file);
  const explain::Analysis analysis(trace, options.file, peaks, host_time_of_this_machine());
  const report::RunReport report = report::make_report(analysis);
  if (outputs.wants_json) write_json(to_json(report, trace), outputs.json, files);
  if (outputs.wants_text()) {
    write_text(
        to_text(report, trace, options.top, base::terminal_width(stdout),
                options.by == "class" ? report::KernelRows::by_class : report::KernelRows::by_name),
        {}, files);
  }
  if (!outputs.page.empty()) write_page(report::run_page(analysis), outputs.page, files);
  return {};
}

}  // namespace

Command report_command() {
  auto options = std::make_shared<ReportOptions>();
  Command command = {"report", "Where the time went: run, operations, bottlenecks", kReportNotes};
  command.positional("FILE", &options->file, "A trace or profile of any format Fathom reads");
  command.option("-o,--output", &options->outputs.page,
                 "Write the page: one HTML file, to look at and pass on");
  command.top(options->top);
  command.peak(options->peak);
  command.choice("--by", options->by, {"kernel", "class"}, "Rows of the table of GPU work");
  command.json(options->outputs);
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
