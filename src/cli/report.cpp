#include <CLI/CLI.hpp>
#include <memory>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/outputs.h"
#include "cli/put.h"
#include "report/page/flame.h"
#include "report/page/page.h"
#include "report/page/summary.h"
#include "report/page/timeline.h"
#include "report/run_report.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  fathom report run.pftrace
  fathom report trace.json.gz -o report.html
  fathom report trace.json.gz --top 30
  fathom report trace.json.gz --json report.json
  fathom report profile.json --json | python3 -m json.tool)";

struct Options {
  std::string file;
  Outputs outputs;
  std::size_t top = 10;
};

void write_page(const std::string& path, const report::RunReport& report,
                const trace::Trace& trace) {
  report::PageData data = report::page_timeline(trace);
  data.emplace_back("summary", page_summary(report, trace));
  data.emplace_back("flame",
                    report::page_flame(analyze::flame_tree(trace), analyze::FlameWeight::cpu));
  put(report::page_html(data), path);
}

void run(Options options) {
  Outputs& outputs = options.outputs;
  settle(outputs);
  const trace::Trace trace = load(options.file);
  const report::RunReport report = report::make_report(trace, options.file);
  if (outputs.wants_json) put_json(to_json(report, trace), outputs.json);
  if (outputs.wants_text()) {
    put(to_text(report, trace, options.top, base::terminal_width(stdout)), {});
  }
  if (!outputs.page.empty()) write_page(outputs.page, report, trace);
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("report", "Where the time went: run, operations, bottlenecks");
  CLI::Option* input =
      command->add_option("FILE", options->file, "A trace or profile of any format Fathom reads")
          ->required();
  command->add_option("-o,--output", options->outputs.page,
                      "Write the page: one HTML file, to look at and pass on");
  command->add_option("--top", options->top, "Rows a table")
      ->check(whole_number(0))
      ->capture_default_str();
  add_json(*command, options->outputs, input);
  command->footer(kExamples);
  command->callback([options] { run(*options); });
}

}  // namespace fathom::cli
