#include "report/ranks_report.h"

namespace fathom::report {
namespace {

using analyze::RankReport;

void write_row(base::JsonWriter& json, const analyze::RankRow& row) {
  json.begin_object().key("rank").value(row.rank).key("device").value(row.device);
  json.key("clock_offset_ns").value(row.clock.offset_ns);
  json.key("clock_residual_ns");
  row.clock.matched > 0 ? json.value(row.clock.residual_ns) : json.null();
  json.key("clock_collectives").value(row.clock.matched);
  json.key("compute_ns").value(row.compute_ns);
  json.key("communication_ns").value(row.communication_ns);
  json.key("memory_ns").value(row.memory_ns);
  json.key("collectives").value(row.collectives).key("shared_collectives").value(row.shared);
  json.key("waited_ns").value(row.waited_ns).key("times_last").value(row.times_last);
  json.key("late_ns").value(row.late_ns).key("late_causes").begin_object();
  for (std::size_t i = 0; i < row.causes.size(); ++i) {
    json.key(analyze::kLateCauseNames[i]).value(row.causes[i]);
  }
  json.end_object().key("mean_step_ns").value(row.mean_step_ns).end_object();
}

void write_collective(base::JsonWriter& json, const RankReport& report,
                      const analyze::CollectiveSkew& skew) {
  const analyze::OperationSkew& operation = report.operations[skew.operation];
  json.begin_object().key("operation").value(operation.operation);
  json.key("members").value(skew.members).key("start_ns").value(skew.start_ns);
  json.key("spread_ns").value(skew.spread_ns).key("exchange_ns").value(skew.exchange_ns);
  json.key("last").value(skew.last);
  if (skew.last) {
    json.key("late_ns").value(skew.late_ns).key("cause").value(analyze::name_of(skew.cause));
  }
  json.end_object();
}

}  // namespace

void write_json(base::JsonWriter& json, const RankReport& report) {
  json.begin_object().key("world_size").value(report.world_size);
  json.key("missing").begin_array();
  for (const std::int64_t rank : report.missing) json.value(rank);
  json.end_array().key("compute_imbalance_pct").value(report.compute_imbalance_pct);
  json.key("ranks").begin_array();
  for (const analyze::RankRow& row : report.rows) write_row(json, row);
  json.end_array().key("stragglers").begin_array();
  for (const std::uint32_t row : report.stragglers) json.value(row);
  json.end_array().key("operations").begin_array();
  for (const analyze::OperationSkew& one : report.operations) {
    json.begin_object().key("operation").value(one.operation).key("group");
    one.group.empty() ? json.null() : json.value(one.group);
    json.key("count").value(one.count).key("spread_sum_ns").value(one.spread_sum_ns);
    json.key("spread_max_ns").value(one.spread_max_ns);
    json.key("exchange_sum_ns").value(one.exchange_sum_ns).end_object();
  }
  json.end_array().key("collectives").begin_array();
  for (const analyze::CollectiveSkew& skew : report.collectives) {
    write_collective(json, report, skew);
  }
  json.end_array().end_object();
}

}  // namespace fathom::report
