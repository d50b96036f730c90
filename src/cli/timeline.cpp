#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "analyze/run/timeline_stats.h"
#include "base/format.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/outputs.h"
#include "cli/put.h"
#include "report/page/page.h"
#include "report/page/summary.h"
#include "report/page/timeline.h"
#include "report/run_report.h"
#include "report/timeline_report.h"
#include "trace/filter.h"
#include "trace/write.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  fathom timeline trace.json.gz                       how long host and GPU were active
  fathom timeline trace.json.gz -o timeline.html      look at it
  fathom timeline run.pftrace --json
  fathom timeline trace.json.gz --no-python --chrome small.json.gz   for chrome://tracing)";

struct Options {
  std::string file;
  Outputs outputs;
  std::string chrome;
  double min_duration_us = 1;
  bool no_python = false;
};

// What is drawn; the figures are always those of the whole trace.
void leave_out(trace::Trace& trace, const Options& options) {
  const auto min_ns = static_cast<std::int64_t>(options.min_duration_us * 1e3);
  trace::keep_spans(trace, [&](trace::SpanId id) {
    return trace.spans.duration_ns[id] >= min_ns &&
           !(options.no_python && trace.spans.kind[id] == trace::SpanKind::python);
  });
}

void run(Options options) {
  Outputs& outputs = options.outputs;
  settle(outputs);
  will_write(options.chrome);
  trace::Trace trace = load(options.file);
  const analyze::TimelineStats stats = analyze::timeline_stats(trace);
  const bool draws = !options.chrome.empty() || !outputs.page.empty();
  if (outputs.wants_json) put_json(report::to_json(stats, trace), outputs.json);
  if (outputs.wants_text() && !draws) {
    put(report::to_text(stats, trace, options.file, base::terminal_width(stdout)), {});
  }
  if (!draws) return;
  std::string summary;  // of the whole, like the figures
  if (!outputs.page.empty()) {
    summary = page_summary(report::make_report(trace, options.file), trace);
  }
  leave_out(trace, options);
  if (!outputs.page.empty()) {
    report::PageData data = report::page_timeline(trace);
    data.emplace_back("summary", std::move(summary));
    put(report::page_html(data, "timeline"), outputs.page);
  }
  if (options.chrome.empty()) return;
  trace::write_trace(trace, options.chrome, trace::OutputFormat::chrome_json);
  if (outputs.wants_text()) {
    fmt::print("{}: {}\n", options.chrome,
               base::format_plural(trace.spans.size(), "span", "spans"));
  }
}

}  // namespace

void add_timeline(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("timeline", "CPU threads and GPU streams side by side, and their overlap");
  CLI::Option* input =
      command->add_option("FILE", options->file, "A trace of any format Fathom reads")->required();
  command->add_option("-o,--output", options->outputs.page, "Write a page to look at");
  command->add_option("--chrome", options->chrome, "Write what is drawn as Chrome JSON");
  command
      ->add_option("--min-duration-us", options->min_duration_us,
                   "Draw no shorter spans; the figures count them all")
      ->check(number(0))
      ->capture_default_str();
  command->add_flag("--no-python", options->no_python, "Draw no Python functions");
  add_json(*command, options->outputs, input, "The figures, as JSON");
  command->footer(kExamples);
  command->callback([options] { run(*options); });
}

}  // namespace fathom::cli
