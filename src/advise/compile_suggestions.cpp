#include "advise/compile_suggestions.h"

#include <fmt/format.h>

#include "base/format.h"

namespace fathom::advise {
namespace {

constexpr double kMediumPct = 20;

std::string at_place(const std::string& place) {
  return place.empty() ? "" : " at " + place;
}

Suggestion one_about(const std::string& function, std::string title, std::string description,
                     const std::string& hint) {
  Suggestion one;
  one.rule = "compile";
  one.title = std::move(title);
  one.operation = function;
  one.type = SuggestionType::algorithm;
  one.description = std::move(description);
  one.expected_improvement = "Unknown: the logs of torch.compile do not say what it would save.";
  one.implementation_hint = hint + ".";
  return one;
}

Suggestion of_break(const analyze::BreakGroup& group) {
  const std::string where = group.example.where.empty() ? "" : " " + group.example.where;
  return one_about(
      group.function, fmt::format("Avoid the graph break in {}{}", group.function, where),
      fmt::format(
          "torch.compile left its graph {}: {}. What comes before and after it is not fused.",
          base::format_plural(group.count, "time", "times"), group.example.reason),
      group.advice);
}

Suggestion of_recompiles(const analyze::RecompileGroup& group, double run_ns) {
  Suggestion one = one_about(
      group.function, fmt::format("Keep {} from being compiled again", group.function),
      fmt::format("{}{} was compiled again {}, which took {}{}.", group.function,
                  at_place(group.place), base::format_plural(group.times, "time", "times"),
                  base::format_duration(group.total_ns),
                  group.reasons.empty() ? "" : ": " + group.reasons.front()),
      group.advice);
  one.type = SuggestionType::caching;
  one.current_ns = static_cast<double>(group.total_ns);
  const bool is_much = run_ns > 0 && one.current_ns >= kMediumPct / 100 * run_ns;
  one.priority = is_much ? Priority::medium : Priority::low;
  return one;
}

Suggestion of_failure(const analyze::CompileFailure& group) {
  return one_about(
      group.function, fmt::format("Make {} compile", group.function),
      fmt::format("{}{} could not be compiled ({}{}{}) and runs without torch.compile.",
                  group.function, at_place(group.place), group.type,
                  group.reason.empty() ? "" : ": ", group.reason),
      group.advice);
}

Suggestion of_skip(const analyze::CudagraphSkip& skip) {
  return one_about("", "Let torch.compile use CUDA graphs",
                   fmt::format("CUDA graphs were not used {}: {}.",
                               base::format_plural(skip.count, "time", "times"), skip.reason),
                   skip.advice);
}

Suggestion of_rerecordings(const analyze::CudagraphRerecording& group) {
  return one_about(
      group.function, fmt::format("Record the CUDA graphs of {} once", group.function),
      fmt::format("{}{} was recorded {} again as CUDA graphs.", group.function,
                  at_place(group.place), base::format_plural(group.times, "time", "times")),
      group.advice);
}

}  // namespace

std::vector<Suggestion> compile_suggestions(const analyze::CompileFindings& found, double run_ns) {
  std::vector<Suggestion> list;
  const auto take = [&](const auto& groups, const auto& suggestion_of) {
    for (const auto& group : groups) {
      if (!group.advice.empty()) list.push_back(suggestion_of(group));
    }
  };
  take(found.failure_groups, of_failure);
  take(found.break_groups, of_break);
  take(found.recompile_groups, [&](const auto& group) { return of_recompiles(group, run_ns); });
  take(found.cudagraph_skips, of_skip);
  take(found.cudagraph_rerecordings, of_rerecordings);
  return list;
}

}  // namespace fathom::advise
