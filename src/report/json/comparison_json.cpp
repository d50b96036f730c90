#include <algorithm>

#include "base/json_writer.h"
#include "fathom/figures.h"
#include "report/comparison_report.h"
#include "report/comparison_words.h"
#include "report/json/document.h"

namespace fathom::report {
namespace {

using base::JsonWriter;

void write_operation(JsonWriter& json, const OperationChange& change) {
  const compare::Verdict& verdict = change.verdict;
  json.begin_object();
  json.key("operation").value(change.name);
  json.key("kind").value(trace::name_of(change.kind));
  const compare::CallSubset& which = change.which;
  const auto known = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
  };
  json.key("label").value(change.label());
  json.key("shape").value(known(which.shape));
  json.key("call_path").value(known(which.path));
  json.key("baseline_shape").value(known(which.base_shape));
  json.key("current_shape").value(known(which.current_shape));
  json.key("place_in_step").value(which.place ? std::optional(which.place->place) : std::nullopt);
  json.key("is_rest").value(which.rest != compare::CallSubset::Rest::none);
  json.key("matched_by").value(change.is_by_structure ? "launcher" : "name");
  json.key("change_type").value(compare::name_of(verdict.type));
  json.key("is_significant").value(verdict.is_significant);
  json.key("is_suspect").value(verdict.is_suspect);
  json.key("baseline_time_ms").value(ms_of(change.base_ns));
  json.key("current_time_ms").value(ms_of(change.current_ns));
  const bool is_in_both = change.base_ns && change.current_ns;
  json.key("change_ms")
      .value(is_in_both ? std::optional(ms_of(*change.current_ns - *change.base_ns))
                        : std::nullopt);
  json.key("change_percent").value(verdict.change_pct);
  json.key("change_percent_low").value(verdict.low_pct);
  json.key("change_percent_high").value(verdict.high_pct);
  json.key("baseline_calls").value(change.base_calls);
  json.key("current_calls").value(change.current_calls);
  json.key("baseline_total_ms").value(ms_of(change.base_total_ns));
  json.key("current_total_ms").value(ms_of(change.current_total_ns));
  json.key("baseline_self_ms").value(ms_of(change.base_self_ns));
  json.key("current_self_ms").value(ms_of(change.current_self_ns));
  json.key("baseline_p95_ms").value(ms_of(change.base_p95_ns));
  json.key("current_p95_ms").value(ms_of(change.current_p95_ns));
  json.key("mean_change_percent").value(verdict.mean_change_pct);
  json.key("is_tail_changed").value(verdict.is_tail_changed);
  json.key("baseline_slow_share").value(change.base_slow_share);
  json.key("current_slow_share").value(change.current_slow_share);
  json.key("is_mix_changed").value(change.is_mix_changed());
  json.key("baseline_memory_mb").value(mb_of(change.base_memory_bytes));
  json.key("current_memory_mb").value(mb_of(change.current_memory_bytes));
  const bool has_memory = change.base_memory_bytes && change.current_memory_bytes;
  json.key("memory_change_mb")
      .value(has_memory
                 ? std::optional(mb_of(*change.current_memory_bytes - *change.base_memory_bytes))
                 : std::nullopt);
  json.key("runs_needed").value(verdict.runs_needed);
  json.end_object();
}

void write_names(JsonWriter& json, const std::vector<std::string>& names) {
  json.begin_array();
  for (const std::string& name : names) json.value(name);
  json.end_array();
}

constexpr std::size_t kTop = 10;

std::vector<std::string> names_of(const std::vector<const OperationChange*>& changes) {
  std::vector<std::string> names;
  for (const OperationChange* change : changes) names.push_back(change->label());
  return names;
}

void write_summary(JsonWriter& json, const Comparison& comparison) {
  json.begin_object();
  json.key("outcome").value(compare::name_of(comparison.outcome));
  json.key("text").value(story(comparison));
  for (const ChangeType type :
       {ChangeType::improvement, ChangeType::regression, ChangeType::no_change, ChangeType::added,
        ChangeType::removed, ChangeType::inconclusive, ChangeType::unstable}) {
    json.key(compare::name_of(type)).value(comparison.count(type));
  }
  json.key("overall");
  if (comparison.whole) {
    write_operation(json, *comparison.whole);
  } else {
    json.null();
  }
  json.key("regressions");
  write_names(json, names_of(comparison.regressions(kTop)));
  json.key("improvements");
  write_names(json, names_of(comparison.improvements(kTop)));
  json.key("common_shift_percent").value(comparison.common_shift_pct);
  json.key("matched_percent").value(comparison.matched_pct);
  json.key("operations_left_out").value(comparison.left_out);
  json.key("baseline_peak_memory_bytes").value(comparison.base_peak_bytes);
  json.key("current_peak_memory_bytes").value(comparison.current_peak_bytes);
  json.key("peak_memory_change_percent").value(peak_change_pct(comparison));
  json.end_object();
}

}  // namespace

std::string to_json(const ComparisonReport& report) {
  std::string out;
  JsonWriter json(out);
  begin_document(json, "compare").key("baseline");
  write_names(json, report.base);
  json.key("current");
  write_names(json, report.current);
  json.key("threshold_percent").value(report.comparison.threshold_pct);
  json.key("totals_are_of").value(report.comparison.is_per_step ? "step" : "run");
  json.key("summary");
  write_summary(json, report.comparison);
  json.key("operations").begin_array();
  for (const OperationChange& change : report.comparison.operations) write_operation(json, change);
  json.end_array();
  json.end_object();
  out += '\n';
  return out;
}

}  // namespace fathom::report
