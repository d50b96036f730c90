#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/format.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "explain/analysis.h"
#include "report/page/page.h"
#include "report/page/summary.h"
#include "report/page/timeline.h"
#include "report/timeline_report.h"
#include "trace/filter.h"
#include "trace/write.h"

namespace fathom::cli {
namespace {

constexpr const char* kTimelineNotes = R"(
Examples:
  fathom timeline trace.json.gz                       how long host and GPU were active
  fathom timeline trace.json.gz -o timeline.html      as a page
  fathom timeline run.pftrace --json
  fathom timeline trace.json.gz --no-python --chrome small.json.gz   for chrome://tracing)";

struct TimelineOptions {
  std::string file;
  Outputs outputs;
  std::string chrome;
  double min_duration_us = 1;
  bool no_python = false;
  std::size_t top = 20;
};

// What is drawn; the figures are always those of the whole trace.
void leave_out(trace::Trace& trace, const TimelineOptions& options) {
  const auto min_ns = static_cast<std::int64_t>(options.min_duration_us * 1e3);
  trace::keep_spans(trace, [&](trace::SpanId id) {
    return trace.spans.duration_ns[id] >= min_ns &&
           !(options.no_python && trace.spans.kind[id] == trace::SpanKind::python);
  });
}

void show_figures(const explain::Analysis& analysis, const TimelineOptions& options, bool draws,
                  Files& files) {
  const Outputs& outputs = options.outputs;
  const analyze::TimelineStats& stats = analysis.timeline_stats();
  if (outputs.wants_json) write_json(report::to_json(stats, analysis.trace()), outputs.json, files);
  if (outputs.wants_text() && !draws) {
    write_text(report::to_text(stats, analysis.trace(), options.file, options.top,
                               base::terminal_width(stdout)),
               {}, files);
  }
}

Ending run(TimelineOptions options, Files& files) {
  Outputs& outputs = options.outputs;
  resolve(outputs, files, {options.chrome, "--chrome"});
  if (!options.chrome.empty()) expect_new(options.chrome, "Remove it, or name another file", files);
  trace::Trace trace = files.load(options.file);
  const bool draws = !options.chrome.empty() || !outputs.page.empty();
  std::string summary;  // of the whole, like the figures
  {
    const explain::Analysis whole(trace, options.file);
    show_figures(whole, options, draws, files);
    if (!outputs.page.empty()) summary = report::page_summary(whole);
  }
  if (!draws) return {};
  leave_out(trace, options);
  if (!outputs.page.empty()) {
    report::PageData data = report::page_timeline(explain::Analysis(trace, options.file));
    data.emplace_back("summary", std::move(summary));
    write_page(report::page_html(data, "timeline"), outputs.page, files);
  }
  if (options.chrome.empty()) return {};
  base::Output chrome = output_to(options.chrome);
  trace::write_trace(trace, chrome, trace::OutputFormat::chrome_json);
  if (outputs.wants_text() && options.chrome != kStandard) {
    base::say(stdout, fmt::format("{}: {}\n", base::printable(options.chrome),
                                  base::format_plural(trace.spans.size(), "span", "spans")));
  }
  return {};
}

}  // namespace

Command timeline_command() {
  auto options = std::make_shared<TimelineOptions>();
  Command command = {"timeline", "CPU threads and GPU streams side by side, and their overlap",
                     kTimelineNotes};
  command.positional("FILE", &options->file, "A trace of any format Fathom reads");
  command.option("-o,--output", &options->outputs.page, "Write the page: one HTML file");
  command.option("--chrome", &options->chrome, "Write what is drawn as Chrome JSON");
  command.option("--min-duration-us", &options->min_duration_us,
                 "Leave out shorter spans; the figures count them all");
  command.option("--no-python", &options->no_python, "Leave out Python functions");
  command.top(options->top);
  command.json(options->outputs, "The figures, as JSON; to a file if one is named");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
