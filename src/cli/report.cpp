#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/put.h"
#include "report/page.h"
#include "report/page_flame.h"
#include "report/page_summary.h"
#include "report/page_timeline.h"
#include "report/run_report.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  fathom report run.pftrace
  fathom report trace.json.gz -o report.html
  fathom report trace.json.gz --top 30
  fathom report profile.json --json | python3 -m json.tool)";

struct Options {
  std::string file;
  std::string page;  // where to write the page; empty: nowhere
  std::size_t top = 10;
  bool json = false;
};

void write_page(const std::string& path, const report::RunReport& report,
                const trace::Trace& trace) {
  report::PageData data = report::page_timeline(trace);
  data.emplace_back("summary", page_summary(report, trace));
  data.emplace_back("flame",
                    report::page_flame(analyze::flame_tree(trace), analyze::FlameWeight::cpu));
  put(report::page_html(data), path);
}

void run(const Options& options) {
  const trace::Trace trace = load(options.file);
  const report::RunReport report = report::make_report(trace, options.file);
  fmt::print("{}", options.json
                       ? to_json(report, trace)
                       : to_text(report, trace, options.top, base::terminal_width(stdout)));
  if (!options.page.empty()) write_page(options.page, report, trace);
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("report", "Where the time went: run, operations, bottlenecks");
  command->add_option("FILE", options->file, "A trace or profile of any format Fathom reads")
      ->required();
  command->add_option("-o,--output", options->page,
                      "Write the page: one HTML file, to look at and pass on");
  command->add_option("--top", options->top, "Rows a table")->capture_default_str();
  command->add_flag("--json", options->json, "Everything, as JSON");
  command->footer(kExamples);
  command->callback([options] { run(*options); });
}

}  // namespace fathom::cli
