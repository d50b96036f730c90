#include "native/said.h"

#include <cstdint>
#include <cstdio>

#include "advise/compile_suggestions.h"
#include "analyze/compile/job_logs.h"
#include "analyze/flame/flame.h"
#include "base/error.h"
#include "base/output.h"
#include "base/terminal.h"
#include "report/compile_report.h"
#include "report/flame_report.h"
#include "report/hta_report.h"
#include "report/memory_report.h"
#include "report/page/compile.h"
#include "report/page/flame.h"
#include "report/page/page.h"
#include "report/page/rank_timelines.h"
#include "report/page/run_page.h"
#include "report/page/summary.h"
#include "report/page/timeline.h"
#include "report/run_report.h"
#include "report/suggest_report.h"
#include "report/timeline_report.h"
#include "trace/filter.h"
#include "trace/write.h"

namespace fathom::python {
namespace {

using analyze::FlameWeight;

std::size_t width() {
  return base::terminal_width(stdout);
}

FlameWeight weight_named(const std::string& name) {
  if (name == "cpu") return FlameWeight::cpu;
  if (name == "gpu") return FlameWeight::gpu;
  if (name == "count") return FlameWeight::count;
  throw base::Error("flame", "unknown weight '" + name + "'", "Use cpu, gpu or count");
}

trace::Trace copy_of(const trace::Trace& trace) {
  trace::Trace copy;
  for (trace::NameId id = 0; id < trace.names.size(); ++id) copy.names.intern(trace.names.view(id));
  copy.tracks = trace.tracks;
  copy.spans = trace.spans;
  copy.bytes = trace.bytes;
  copy.scopes = trace.scopes;
  copy.instants = trace.instants;
  copy.counters = trace.counters;
  copy.memory = trace.memory;
  copy.flows = trace.flows;
  copy.operations = trace.operations;
  copy.run = trace.run;
  copy.args_at = trace.args_at;
  return copy;
}

trace::Trace drawn(const OpenedTrace& opened, double min_duration_us, bool with_python) {
  trace::Trace copy = copy_of(opened.trace);
  const auto min_ns = static_cast<std::int64_t>(min_duration_us * 1e3);
  trace::keep_spans(copy, [&](trace::SpanId id) {
    return copy.spans.duration_ns[id] >= min_ns &&
           (with_python || copy.spans.kind[id] != trace::SpanKind::python);
  });
  return copy;
}

std::string page_of(const report::HtaReport& report,
                    const std::vector<std::shared_ptr<OpenedTrace>>& ranks, bool all_steps) {
  std::vector<report::RankTimeline> timelines;
  for (const auto& rank : ranks) {
    timelines.push_back(report::rank_timeline(rank->analysis, ranks.size(), all_steps));
  }
  std::vector<report::PlacedTimeline> placed =
      report::place_timelines(report, std::move(timelines));
  std::string summary = page_summary(report, placed);
  report::PageData data = report::page_rank_timelines(std::move(placed));
  data.emplace_back("summary", std::move(summary));
  return report::page_html(data);
}

}  // namespace

std::string said_report(const OpenedTrace& opened) {
  return to_json(report::make_report(opened.analysis), opened.trace);
}

std::string said_report_text(const OpenedTrace& opened, std::size_t top) {
  return to_text(report::make_report(opened.analysis), opened.trace, top, width());
}

std::string said_hta(const OpenedTrace& opened, bool all_steps, std::size_t top, bool as_text) {
  const report::HtaReport report = report::make_hta_report(
      opened.analysis.hta({all_steps, false}), std::span(&opened.analysis.suggestions(), 1));
  return as_text ? to_text(report, top, width()) : to_json(report, top);
}

std::string said_hta_of(const std::vector<std::shared_ptr<OpenedTrace>>& ranks, bool all_steps,
                        std::size_t top, const std::string& form) {
  std::vector<analyze::RankFindings> findings;
  std::vector<advise::Suggestions> suggestions;
  for (const auto& rank : ranks) {
    const auto& found = rank->analysis.hta({all_steps, ranks.size() > 1});
    findings.insert(findings.end(), found.begin(), found.end());
    suggestions.push_back(rank->analysis.suggestions());
  }
  const report::HtaReport report = report::make_hta_report(std::move(findings), suggestions);
  if (form == "page") return page_of(report, ranks, all_steps);
  return form == "text" ? to_text(report, top, width()) : to_json(report, top);
}

std::string said_flame(const OpenedTrace& opened, const FlameChoice& choice) {
  const FlameWeight weight = weight_named(choice.weight);
  analyze::FlameOptions options;
  options.min_duration_ns = static_cast<std::int64_t>(choice.min_duration_us * 1e3);
  if (choice.max_depth > 0) options.max_depth = static_cast<std::uint32_t>(choice.max_depth);
  options.group_small_kernels = choice.group_small_kernels;
  const analyze::FlameTree tree = analyze::flame_tree(opened.trace, options);
  if (choice.form == "folded") return report::to_folded(tree, weight);
  if (choice.form == "speedscope") {
    return report::to_speedscope(tree, weight, opened.analysis.source());
  }
  if (choice.form == "text") return report::to_text(tree, weight, width());
  if (choice.form == "page") {
    return report::page_html({{"summary", report::page_summary(opened.analysis)},
                              {"flame", report::page_flame(tree, weight)}},
                             "flame");
  }
  return report::to_json(tree, weight);
}

std::string said_timeline(const OpenedTrace& opened, std::size_t top, bool as_text) {
  const analyze::TimelineStats& stats = opened.analysis.timeline_stats();
  return as_text ? report::to_text(stats, opened.trace, opened.analysis.source(), top, width())
                 : report::to_json(stats, opened.trace);
}

std::string said_memory(const OpenedTrace& opened, std::size_t top, bool as_text) {
  const report::MemoryReport report = report::make_memory_report(opened.analysis);
  return as_text ? to_text(report, opened.trace, top, width()) : to_json(report, opened.trace);
}

std::string said_suggestions(const OpenedTrace& opened, bool all, bool critical, std::size_t top,
                             bool as_text, const std::string& compile_logs) {
  std::vector<advise::Suggestion> others;
  if (!compile_logs.empty()) {
    others =
        advise::compile_suggestions(analyze::compile_findings(analyze::read_job_logs(compile_logs)),
                                    opened.analysis.suggestions(all).run_ns);
  }
  const report::SuggestReport report =
      report::make_suggest_report(opened.analysis, all, critical, others);
  return as_text ? to_text(report, top, width()) : to_json(report, top);
}

std::string said_compile(const std::string& logs, std::size_t top, const std::string& form) {
  report::CompileReport report;
  report.source = logs;
  report.found = analyze::compile_findings(analyze::read_job_logs(logs));
  if (form == "page") return report::compile_page(report);
  return form == "text" ? to_text(report, top, width()) : to_json(report);
}

std::string said_session(const OpenedTrace& opened) {
  return report::to_json(report::make_report(opened.analysis).session);
}

std::string said_page(const OpenedTrace& opened, const std::string& start) {
  if (start.empty()) return report::run_page(opened.analysis);
  if (start == "timeline") {
    report::PageData data = report::page_timeline(opened.analysis);
    data.emplace_back("summary", report::page_summary(opened.analysis));
    return report::page_html(data, start);
  }
  return report::page_html({{"summary", report::page_summary(opened.analysis)}}, start);
}

std::string said_drawn(const OpenedTrace& opened, double min_duration_us, bool with_python) {
  const trace::Trace trace = drawn(opened, min_duration_us, with_python);
  report::PageData data = report::page_timeline(explain::Analysis(trace, opened.analysis.source()));
  data.emplace_back("summary", report::page_summary(opened.analysis));  // of the whole
  return report::page_html(data, "timeline");
}

void write_drawn(const OpenedTrace& opened, double min_duration_us, bool with_python,
                 const std::string& path) {
  trace::write_trace(drawn(opened, min_duration_us, with_python), path,
                     trace::OutputFormat::chrome_json);
}

void write_trace_to(const OpenedTrace& opened, const std::string& path) {
  trace::write_trace(opened.trace, path);
}

}  // namespace fathom::python
