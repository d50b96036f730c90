#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/host_time.h"
#include "explain/analysis.h"
#include "report/hta_report.h"
#include "report/json/document.h"
#include "report/page/page.h"
#include "report/page/rank_timelines.h"
#include "report/page/summary.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHtaNotes = R"(
Several files, or the files of a directory, are the ranks of one job. With two profiler steps or
more the last one is left out, because its GPU work is usually cut off; --all-steps includes it.
The critical path and the suggestions cover the whole trace.

Examples:
  fathom hta trace.json.gz
  fathom hta rank0.json.gz rank1.json.gz --top 20
  fathom hta trace.json.gz --by class             GEMM, attention, elementwise, …
  fathom hta traces/ -o report.html
  fathom hta traces/ --json findings.json
  fathom hta traces/ --json | python3 -m json.tool)";

struct HtaCommandOptions {
  std::vector<std::string> files;
  Outputs outputs;
  std::size_t top = 10;
  std::string by = "kernel";
  std::string peak;
  analyze::DevicePeaks peaks;  // as `peak` says
  bool all_steps = false;
  bool many_ranks = false;      // more than one file, or a directory
  std::size_t most_traces = 1;  // as many at most: a directory may hold other things too
};

struct Findings {
  std::vector<analyze::RankFindings> ranks;
  std::vector<advise::Suggestions> suggestions;  // of each file
  std::vector<report::RankTimeline> timelines;   // of each file, where a page is asked for
};

bool looks_like_a_trace(const fs::path& path) {
  constexpr std::array<const char*, 8> kEndings = {".json",           ".gz", ".zst",    ".pftrace",
                                                   ".perfetto-trace", ".pb", ".sqlite", ".ndjson"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const char* ending) { return path.extension() == ending; });
}

std::vector<std::string> files_of(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_regular_file() && looks_like_a_trace(entry.path())) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Twice the same rank would be compared with itself. Links have names of their own, and whoever
// made them meant several.
void expect_not_yet_read(const std::string& path, const Findings& found) {
  const auto whole = [](const std::string& name) { return fs::absolute(name).lexically_normal(); };
  if (path == kStandard) return;  // Files sees to that
  const auto is_this = [&](const analyze::RankFindings& rank) {
    return whole(rank.source) == whole(path);
  };
  if (std::ranges::any_of(found.ranks, is_this))
    throw base::Error(path, "named twice", "Name each rank once");
}

// One rank after another: what is kept of a trace are its findings.
void analyze_file(const std::string& path, const HtaCommandOptions& options, Files& files,
                  Findings& found) {
  expect_not_yet_read(path, found);
  const trace::Trace trace = files.load(path);
  const explain::Analysis analysis(trace, path, options.peaks, host_time_of_this_machine());
  auto suggesting = std::async(std::launch::async, [&] { analysis.suggestions(); });
  const auto& ranks = analysis.hta({options.all_steps, options.many_ranks});
  found.ranks.insert(found.ranks.end(), ranks.begin(), ranks.end());
  suggesting.get();
  found.suggestions.push_back(analysis.suggestions());
  if (!options.outputs.page.empty()) {
    found.timelines.push_back(
        report::rank_timeline(analysis, options.most_traces, options.all_steps));
  }
}

// A directory may hold other things too: what is no trace is named and left out.
void analyze_directory(const std::string& path, const HtaCommandOptions& options, Files& files,
                       Findings& found) {
  const std::size_t before = found.ranks.size();
  for (const std::string& file : files_of(path)) {
    std::error_code ignored;
    if (fs::equivalent(file, options.outputs.json, ignored)) continue;  // earlier findings
    files.will_read(file);  // here, for a trace that would be written over is not just left out
    try {
      analyze_file(file, options, files, found);
    } catch (const base::Error& error) {
      base::say(stderr, fmt::format("fathom: {}; left out\n", base::printable(error.what())));
    }
  }
  if (found.ranks.size() == before) {
    throw base::Error(path, "no trace in this directory", "Name the files, or another directory");
  }
}

Ending run(HtaCommandOptions options, Files& files) {
  // `--json rank0.json rank1.json` names traces, not what to overwrite: of the files that are there
  // already, only findings are written over.
  Outputs& outputs = options.outputs;
  std::error_code ignored;
  const bool is_named_twice = std::ranges::find(options.files, outputs.json) != options.files.end();
  if (!outputs.json.empty() && outputs.json != kStandard && !is_named_twice &&
      (fs::is_directory(outputs.json, ignored) ||
       is_something_else(outputs.json, report::document_begin(outputs.document)))) {
    options.files.insert(options.files.begin(), std::exchange(outputs.json, {}));
  }
  resolve(outputs, files);
  options.peaks = analyze::parse_peaks(options.peak);
  options.many_ranks = options.files.size() > 1 || fs::is_directory(options.files[0], ignored);
  options.most_traces = 0;
  for (const std::string& file : options.files) {
    options.most_traces += fs::is_directory(file, ignored) ? files_of(file).size() : 1;
  }
  Findings found;
  for (const std::string& file : options.files) {
    if (fs::is_directory(file, ignored)) {
      analyze_directory(file, options, files, found);
    } else {
      analyze_file(file, options, files, found);
    }
  }
  const report::HtaReport report =
      report::make_hta_report(std::move(found.ranks), found.suggestions);
  if (outputs.wants_json) write_json(to_json(report, options.top), outputs.json, files);
  if (outputs.wants_text()) {
    write_text(
        to_text(report, options.top, base::terminal_width(stdout),
                options.by == "class" ? report::KernelRows::by_class : report::KernelRows::by_name),
        {}, files);
  }
  if (!outputs.page.empty()) {
    std::vector<report::PlacedTimeline> ranks =
        report::place_timelines(report, std::move(found.timelines));
    std::string summary = page_summary(report, ranks);
    report::PageData data = report::page_rank_timelines(std::move(ranks));
    data.emplace_back("summary", std::move(summary));
    write_page(report::page_html(data), outputs.page, files);
  }
  return {};
}

}  // namespace

Command hta_command() {
  auto options = std::make_shared<HtaCommandOptions>();
  Command command = {
      "hta", "Holistic analysis of one or many ranks: compute and idle time, kernels, launches",
      kHtaNotes};
  command.positional("TRACE", &options->files, "Traces, or directories of them");
  command.option("-o,--output", &options->outputs.page, "Write the page: one HTML file");
  command.top(options->top);
  command.peak(options->peak);
  command.choice("--by", options->by, {"kernel", "class"}, "Rows of the table of GPU work");
  command.json(options->outputs);
  command.option("--all-steps", &options->all_steps, "Include the last profiler step");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
