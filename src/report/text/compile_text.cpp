#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/format.h"
#include "base/printable.h"
#include "base/table.h"
#include "report/compile_report.h"
#include "report/text/more_rows.h"
#include "report/text/wrapped.h"

namespace fathom::report {
namespace {

using analyze::Compilation;
using analyze::CompileFindings;
using analyze::CompileLog;
using base::format_count;

std::string duration_or_dash(std::optional<std::int64_t> ns) {
  return ns ? base::format_duration(*ns) : "–";
}

struct Row {
  const CompileLog* log;
  const Compilation* one;
};

std::vector<Row> longest_first(const CompileFindings& found) {
  std::vector<Row> rows;
  for (const CompileLog& log : found.logs) {
    for (const Compilation& one : log.compilations) rows.push_back({&log, &one});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return row.one->total_ns.value_or(-1); });
  return rows;
}

std::string label(const Row& row, bool has_ranks) {
  const Compilation& one = *row.one;
  std::string text = fmt::format("[{}] {}", one.id,
                                 one.function.empty() ? "–" : analyze::original_name(one.function));
  if (!one.file.empty()) {
    text += " · " + analyze::short_place(one.file, one.first_line);
  }
  if (has_ranks && row.log->rank) text += fmt::format(" · rank {}", *row.log->rank);
  return base::printable(text);
}

std::string fusion_text(const Compilation& one) {
  if (!one.fusion) return "–";
  return fmt::format("{} → {}", format_count(one.fusion->ops_before),
                     format_count(one.fusion->ops_after));
}

std::string compilations_text(const CompileFindings& found, std::size_t top, std::size_t width) {
  base::Table table({"compilation", "time", "dynamo", "aot", "inductor", "ops → kernels"});
  const std::vector<Row> rows = longest_first(found);
  const std::size_t shown = std::min(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Compilation& one = *rows[i].one;
    table.row({label(rows[i], found.logs.size() > 1), duration_or_dash(one.total_ns),
               duration_or_dash(one.phases[0]), duration_or_dash(one.phases[1]),
               duration_or_dash(one.phases[2]), fusion_text(one)});
  }
  return table.text(width) + more_rows(rows.size(), shown);
}

std::string caches_text(const CompileFindings& found, std::size_t width) {
  if (found.caches.empty()) return {};
  using enum analyze::CacheOutcome;
  base::Table table({"cache", "hits", "misses", "bypassed", "saved"});
  for (const auto& [name, counts] : found.caches) {
    table.row({base::printable(name), format_count(counts.of(hit)), format_count(counts.of(miss)),
               format_count(counts.of(bypass)), duration_or_dash(counts.saved_ns)});
  }
  return "\n" + table.text(width);
}

// A numbered fault: what, how often, where, and what to do.
class FaultList {
 public:
  FaultList(std::string& text, std::size_t width) : text_(text), width_(width) {}

  void add(const std::string& title, std::string_view why, std::string_view how) {
    text_ += "\n" + wrapped(base::printable(title), fmt::format("  {:>2}  ", ++number_), width_);
    if (!why.empty()) text_ += wrapped(base::printable(why), "      why  ", width_);
    if (!how.empty()) text_ += wrapped(base::printable(how), "      how  ", width_);
  }

 private:
  std::string& text_;
  std::size_t width_;
  std::size_t number_ = 0;
};

std::string times(std::uint64_t count) {
  return count == 1 ? "" : fmt::format(", {} times", format_count(count));
}

std::string at(const std::string& place) {
  return place.empty() ? "" : " at " + place;
}

std::string faults_text(const CompileFindings& found, std::size_t top, std::size_t width) {
  std::string text;
  FaultList faults(text, width);
  const auto first = [&](const auto& groups) {
    return std::span(groups).first(std::min(top, groups.size()));
  };
  for (const analyze::CompileFailure& failure : first(found.failure_groups)) {
    faults.add(fmt::format("{} failed to compile{}{}", failure.function, at(failure.place),
                           times(failure.count)),
               failure.type + (failure.reason.empty() ? "" : ": " + failure.reason),
               failure.advice);
  }
  for (const analyze::BreakGroup& group : first(found.break_groups)) {
    faults.add(fmt::format("Graph break in {}{}{}", group.function,
                           group.example.where.empty() ? "" : " " + group.example.where,
                           times(group.count)),
               group.example.reason, group.advice);
  }
  for (const analyze::RecompileGroup& group : first(found.recompile_groups)) {
    faults.add(
        fmt::format("{} was compiled again {}{}: {}", group.function,
                    base::format_plural(group.times, "time", "times"), at(group.place),
                    base::format_duration(group.total_ns)),
        group.reasons.empty() ? "the log does not say which guard failed" : group.reasons.front(),
        group.advice);
  }
  for (const analyze::CudagraphSkip& skip : first(found.cudagraph_skips)) {
    faults.add("CUDA graphs were not used" + times(skip.count), skip.reason, skip.advice);
  }
  for (const analyze::CudagraphRerecording& group : first(found.cudagraph_rerecordings)) {
    faults.add(fmt::format("The CUDA graphs of {} were recorded again {}{}", group.function,
                           base::format_plural(group.times, "time", "times"), at(group.place)),
               "other sizes, or a tensor that moved", group.advice);
  }
  return text;
}

std::string losses_text(const CompileFindings& found) {
  std::string text;
  for (const CompileLog& log : found.logs) {
    const std::uint64_t lost = log.unreadable_lines + log.unreadable_json;
    const auto add = [&](std::uint64_t count, const char* one, const char* many) {
      if (count == 0) return;
      text += fmt::format("\n  {}: {}\n", base::printable(log.source),
                          base::format_plural(count, one, many));
    };
    add(lost, "line could not be read", "lines could not be read");
    add(log.damaged_payloads, "payload is damaged: its checksum differs",
        "payloads are damaged: their checksums differ");
  }
  return text;
}

}  // namespace

std::string to_text(const CompileReport& report, std::size_t top, std::size_t width) {
  const CompileFindings& found = report.found;
  std::string text = fmt::format(
      "\n  {}\n\n", base::printable(std::filesystem::path(report.source).filename().string()));
  text += wrapped(compile_story(report), "  ", width);
  if (found.compilations > 0) text += "\n" + compilations_text(found, top, width);
  text += caches_text(found, width) + faults_text(found, top, width) + losses_text(found);
  return text + "\n";
}

}  // namespace fathom::report
