#include <fmt/format.h>

#include <vector>

#include "analyze/hta/hta_summary.h"
#include "base/format.h"
#include "report/compile_report.h"

namespace fathom::report {
namespace {

using analyze::CompileFindings;

std::string time_sentence(const CompileFindings& found) {
  const std::string what =
      fmt::format("{}, {}", base::format_plural(found.functions, "function", "functions"),
                  base::format_plural(found.compilations, "compilation", "compilations"));
  if (!found.total_ns) return what + "; the log does not say how long they took.";
  std::string text =
      fmt::format("Compiling took {}: {}", base::format_duration(*found.total_ns), what);
  if (found.logs.size() > 1)
    text += fmt::format(" on {} ranks, the slowest counted", found.logs.size());
  return text + ".";
}

// Most of the time, where one phase has it.
std::string phase_sentence(const CompileFindings& found) {
  constexpr const char* kNames[] = {"tracing Python (Dynamo)", "AOT autograd and its cache",
                                    "generating and compiling kernels (Inductor)"};
  if (!found.total_ns) return {};
  std::size_t largest = 0;
  for (std::size_t i = 1; i < analyze::kCompilePhases; ++i) {
    if (found.phases[i].value_or(0) > found.phases[largest].value_or(0)) largest = i;
  }
  if (!found.phases[largest]) return {};
  return fmt::format(
      " {} of it went into {}.",
      base::format_percent(analyze::percent_of(*found.phases[largest], *found.total_ns)),
      kNames[largest]);
}

std::string trouble_sentence(const CompileFindings& found) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) parts.push_back(base::format_plural(count, one, many));
  };
  add(found.failures, "failure", "failures");
  add(found.breaks, "graph break", "graph breaks");
  add(found.recompiles, "recompilation", "recompilations");
  std::uint64_t skips = 0;
  for (const analyze::CudagraphSkip& skip : found.cudagraph_skips) skips += skip.count;
  add(skips, "graph without CUDA graphs", "graphs without CUDA graphs");
  std::uint64_t rerecordings = 0;
  for (const auto& group : found.cudagraph_rerecordings) rerecordings += group.times;
  add(rerecordings, "CUDA graph recorded again", "CUDA graphs recorded again");
  if (parts.empty()) return " No failure, no graph break, no recompilation.";
  return fmt::format(" {}.", fmt::join(parts, ", "));
}

std::string rank_sentence(const CompileFindings& found) {
  if (found.differences.empty()) return {};
  const analyze::RankDifference& first = found.differences.front();
  return fmt::format(
      " Ranks differ: rank {} has {} {}, where {} is usual; ranks wait for each other.", first.rank,
      base::format_count(first.count), first.what, base::format_count(first.usual));
}

std::string share_sentence(const CompileReport& report) {
  if (report.trace.empty()) return {};
  if (!report.share) return " The trace names no compiled function.";
  if (report.share->gpu_ns <= 0) return {};
  return fmt::format(" Compiled code launched {} of the GPU work in the trace.",
                     base::format_percent(
                         analyze::percent_of(report.share->compiled_gpu_ns, report.share->gpu_ns)));
}

}  // namespace

std::string compile_story(const CompileReport& report) {
  const CompileFindings& found = report.found;
  if (found.compilations == 0) return "Nothing was compiled: the log has no compilation.";
  std::string text = time_sentence(found) + phase_sentence(found) + trouble_sentence(found) +
                     rank_sentence(found) + share_sentence(report);
  if (report.speedup && report.speedup->factor()) {
    text += fmt::format(" {} takes {} compiled and {} eager: {:.2f} times as fast.",
                        report.speedup->is_of_steps ? "A step" : "The run",
                        base::format_duration(report.speedup->compiled_ns),
                        base::format_duration(report.speedup->eager_ns), *report.speedup->factor());
  }
  return text;
}

}  // namespace fathom::report
