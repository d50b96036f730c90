#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "fathom/compare.h"
#include "native/long_work.h"
#include "native/parts.h"

namespace fathom::python {
namespace py = pybind11;
namespace {

const char* type_name(ChangeType type) {
  switch (type) {
    case ChangeType::improvement:
      return "IMPROVEMENT";
    case ChangeType::regression:
      return "REGRESSION";
    case ChangeType::no_change:
      return "NO_CHANGE";
    case ChangeType::added:
      return "NEW";
    case ChangeType::removed:
      return "REMOVED";
    case ChangeType::unstable:
      return "UNSTABLE";
    case ChangeType::inconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

const char* outcome_name(ComparisonOutcome outcome) {
  switch (outcome) {
    case ComparisonOutcome::no_regression:
      return "no_regression";
    case ComparisonOutcome::regression:
      return "regression";
    case ComparisonOutcome::not_comparable:
      return "not_comparable";
    case ComparisonOutcome::inconclusive:
      break;
  }
  return "inconclusive";
}

py::list operations(const std::vector<OperationComparison>& all) {
  py::list list;
  for (const OperationComparison& each : all) {
    list.append(py::make_tuple(each.operation, each.baseline_time_ms, each.current_time_ms,
                               each.change_ms, each.change_percent, type_name(each.change_type),
                               each.is_significant, each.change_percent_low,
                               each.change_percent_high, each.is_suspect, each.baseline_calls,
                               each.current_calls, each.memory_change_mb));
  }
  return list;
}

py::tuple summary(const RunComparison& comparison) {
  const ComparisonSummary all = comparison.summary();
  return py::make_tuple(all.regressions, all.improvements, all.unchanged, all.added, all.removed,
                        all.overall_change_percent, all.inconclusive, all.unstable, all.suspects,
                        outcome_name(all.outcome), all.matched_percent, all.text);
}

RunComparison compare(const std::vector<std::string>& base, const std::vector<std::string>& current,
                      double threshold) {
  const auto result = std::make_shared<std::unique_ptr<RunComparison>>();
  do_long_work([=] {
    *result = std::make_unique<RunComparison>(compare_profiling_runs(base, current, threshold));
  });
  return **result;
}

}  // namespace

void add_comparison(py::module_& module) {
  using C = const RunComparison&;
  py::class_<RunComparison>(module, "RunComparison")
      .def("summary", summary)
      .def("operations", [](C c) { return operations(c.operations()); })
      .def("regressions", [](C c, std::size_t most) { return operations(c.regressions(most)); })
      .def("improvements", [](C c, std::size_t most) { return operations(c.improvements(most)); })
      .def("export_json", &RunComparison::export_json, py::call_guard<py::gil_scoped_release>())
      .def("text", &RunComparison::summary_text)
      .def("regressions_text", &RunComparison::regressions_text)
      .def("improvements_text", &RunComparison::improvements_text);
  module.def("compare", compare);
}

}  // namespace fathom::python
