#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/hta/hta_summary.h"
#include "analyze/operations/launching_operators.h"
#include "report/page/sections.h"

namespace fathom::report {

void write_operators(base::JsonWriter& json, const explain::Analysis& analysis) {
  const trace::Trace& trace = analysis.trace();
  const std::vector<analyze::LaunchingOperator> operators =
      analyze::launching_operators(trace, analysis.gpu_work());
  std::int64_t whole_ns = 0;
  for (const analyze::LaunchingOperator& one : operators) whole_ns += one.sum_ns;
  std::unordered_map<trace::NameId, std::size_t> places;  // of kernels among those written
  json.key("operators").begin_object().key("kernels").begin_array();
  for (const analyze::LaunchingOperator& one : operators) {
    for (const trace::NameId kernel : one.kernels) {
      if (places.try_emplace(kernel, places.size()).second) json.value(trace.names.view(kernel));
    }
  }
  json.end_array().key("list").begin_array();
  for (const analyze::LaunchingOperator& one : operators) {
    json.begin_object().key("name").value(one.name).key("calls").value(one.calls);
    json.key("sum_ns").value(one.sum_ns);
    json.key("share_pct").value(analyze::percent_of(one.sum_ns, whole_ns));
    json.key("kernels").begin_array();
    for (const trace::NameId kernel : one.kernels) json.value(places.at(kernel));
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

void write_no_operators(base::JsonWriter& json) {
  json.key("operators").begin_object().key("kernels").begin_array().end_array();
  json.key("list").begin_array().end_array().end_object();
}

}  // namespace fathom::report
