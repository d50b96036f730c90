#include "report/page/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "base/format.h"
#include "base/json_writer.h"
#include "report/comparison_words.h"
#include "report/page/part.h"
#include "report/page/sections.h"
#include "report/page/tab_summary.h"

namespace fathom::report {
namespace {

using base::JsonWriter;
using compare::Sample;

constexpr std::size_t kMostDistributions = 500;  // the largest differences

void write_runs(JsonWriter& json, const std::vector<Sample>& runs) {
  json.begin_array();
  for (const Sample& run : runs) {
    json.begin_object().key("calls").value(run.calls);
    json.key("centre_ns").value(std::exp(run.log_centre)).key("quantiles_ns").begin_array();
    for (const float log : run.log_quantiles) json.value(std::round(std::exp(double{log})));
    json.end_array().end_object();
  }
  json.end_array();
}

void write_operation(JsonWriter& json, const OperationChange& change, double threshold_pct,
                     bool with_runs) {
  const compare::Verdict& verdict = change.verdict;
  json.begin_object().key("name").value(change.name);
  json.key("words").value(change.which.words);
  json.key("kind").value(trace::name_of(change.kind));
  json.key("part").value(page_part(change.kind, change.name));
  json.key("by_launcher").value(change.is_by_structure);
  json.key("verdict").value(verdict_word(verdict)).key("calls").value(calls_text(change));
  json.key("base_ns").value(change.base_ns).key("current_ns").value(change.current_ns);
  json.key("change_pct").value(verdict.change_pct);
  json.key("low_pct").value(verdict.low_pct).key("high_pct").value(verdict.high_pct);
  json.key("base_self_ns").value(change.base_self_ns);
  json.key("current_self_ns").value(change.current_self_ns);
  json.key("base_p95_ns").value(change.base_p95_ns);
  json.key("current_p95_ns").value(change.current_p95_ns);
  json.key("note").value(beside_the_centre(change, threshold_pct));
  json.key("runs_needed").value(verdict.runs_needed).key("base");
  write_runs(json, with_runs ? change.runs.base : std::vector<Sample>());
  json.key("current");
  write_runs(json, with_runs ? change.runs.current : std::vector<Sample>());
  json.end_object();
}

std::vector<Card> cards_of(const Comparison& comparison) {
  std::vector<Card> cards;
  if (comparison.whole && comparison.whole->base_ns && comparison.whole->current_ns) {
    const OperationChange& whole = *comparison.whole;
    cards.push_back(
        {comparison.is_per_step ? "A step" : "The run", percent_text(*whole.verdict.change_pct),
         fmt::format("{} → {} · {}", base::format_duration(*whole.base_ns),
                     base::format_duration(*whole.current_ns), verdict_word(whole.verdict))});
  }
  cards.push_back({"Slower", base::format_count(comparison.count(ChangeType::regression)),
                   fmt::format("by {:g} % or more, proven", comparison.threshold_pct)});
  cards.push_back({"Faster", base::format_count(comparison.count(ChangeType::improvement)),
                   fmt::format("by {:g} % or more, proven", comparison.threshold_pct)});
  if (comparison.suspects() > 0) {
    cards.push_back({"Suspect", base::format_count(comparison.suspects()),
                     "strong evidence, one run per side"});
  }
  if (const auto pct = peak_change_pct(comparison)) {
    cards.push_back(
        {"Peak device memory", percent_text(*pct),
         fmt::format("{} → {}",
                     base::format_bytes(static_cast<double>(*comparison.base_peak_bytes)),
                     base::format_bytes(static_cast<double>(*comparison.current_peak_bytes)))});
  }
  cards.push_back({"Matched", base::format_percent(comparison.matched_pct),
                   "of the time is in operations of both"});
  return cards;
}

std::string compare_block(const ComparisonReport& report) {
  const Comparison& comparison = report.comparison;
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("story").value(story(comparison));
  json.key("counts").value(counts(comparison)).key("advice").value(advice(comparison));
  json.key("base_label")
      .value(side_label(report.base))
      .key("base_runs")
      .value(comparison.base_runs);
  json.key("current_label").value(side_label(report.current));
  json.key("current_runs").value(comparison.current_runs);
  json.key("threshold_pct").value(comparison.threshold_pct);
  json.key("totals_are_of").value(comparison.is_per_step ? "step" : "run");
  write_cards(json, cards_of(comparison));
  json.key("operations").begin_array();
  std::size_t written = 0;
  for (const OperationChange& change : comparison.operations) {
    write_operation(json, change, comparison.threshold_pct, written++ < kMostDistributions);
  }
  json.end_array().end_object();
  return out;
}

template <typename Value>
void column(JsonWriter& json, const compare::FlameChange& flame, std::string_view name,
            const Value& value) {
  json.key(name).begin_array();
  for (const compare::FlameChangeNode& node : flame.nodes) json.value(value(node));
  json.end_array();
}

std::string flame_block(const compare::FlameChange& flame) {
  using Node = compare::FlameChangeNode;
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("names").begin_array();
  for (const std::string& name : flame.names) json.value(name);
  json.end_array();
  column(json, flame, "parent", [](const Node& node) { return node.parent; });
  column(json, flame, "name", [](const Node& node) { return node.name; });
  column(json, flame, "kind", [](const Node& node) { return trace::name_of(node.kind); });
  column(json, flame, "base_cpu_ns", [](const Node& node) { return std::round(node.base.cpu_ns); });
  column(json, flame, "base_gpu_ns", [](const Node& node) { return std::round(node.base.gpu_ns); });
  column(json, flame, "current_cpu_ns",
         [](const Node& node) { return std::round(node.current.cpu_ns); });
  column(json, flame, "current_gpu_ns",
         [](const Node& node) { return std::round(node.current.gpu_ns); });
  json.end_object();
  return out;
}

}  // namespace

PageData page_compare(const ComparisonReport& report, const compare::FlameChange& flame) {
  const std::string sides = side_label(report.base) + " → " + side_label(report.current);
  return {{"summary", tab_summary("compare", sides, story(report.comparison))},
          {"compare", compare_block(report)},
          {"flame_change", flame_block(flame)}};
}

}  // namespace fathom::report
