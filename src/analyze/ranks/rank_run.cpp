#include "analyze/ranks/rank_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analyze/hta/work_type.h"
#include "analyze/operations/steps.h"
#include "base/json_scan.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;

// How long any of the given ran, as they come in order of start.
class BusyTime {
 public:
  void add(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t from = std::max(start_ns, until_ns_);
    if (end_ns <= from) return;
    busy_ns_ += end_ns - from;
    until_ns_ = end_ns;
  }
  std::int64_t total_ns() const { return busy_ns_; }
  // Up to a time that is no earlier than the last start given.
  std::int64_t before(std::int64_t time_ns) const {
    return until_ns_ > time_ns ? busy_ns_ - (until_ns_ - time_ns) : busy_ns_;
  }

 private:
  std::int64_t busy_ns_ = 0;
  std::int64_t until_ns_ = INT64_MIN;
};

// Sources either say what a collective is in the arguments of its kernel or never do: the first one
// tells, so that the arguments of the others need not be looked for.
class Keys {
 public:
  Keys(const trace::Trace& trace, RankRun& run) : trace_(trace), run_(run) {}

  std::uint32_t of(const WorkRow& row) {
    CollectiveKey key;
    if (has_args_) {
      key = from_args(row.span);
      if (is_first_) has_args_ = !key.operation.empty() || !key.group.empty();
      is_first_ = false;
    }
    if (!has_args_) {
      const auto [at, is_new] = by_name_.try_emplace(row.name, 0);
      if (!is_new) return at->second;
      key = {collective_operation(trace_.names.view(row.name)), {}, {}};
      return at->second = number(key);
    }
    if (key.operation.empty()) key.operation = collective_operation(trace_.names.view(row.name));
    return number(key);
  }

 private:
  CollectiveKey from_args(trace::SpanId span) const {
    CollectiveKey key;
    const std::string args = trace_.args(span);
    base::for_each_member(
        args, base::JsonScanner::Mode::lenient, [&](std::string_view name, std::string_view value) {
          const bool is_text = value.size() >= 2 && value.front() == '"';
          const auto text = [&] { return base::unescaped(value.substr(1, value.size() - 2)); };
          if (name == "Collective name" && is_text) key.operation = text();
          if (name == "Process Group Name" && is_text) key.group = text();
          if (name == "In msg nelems") key.elements = base::integer_of(value);
        });
    return key;
  }

  std::uint32_t number(const CollectiveKey& key) {
    const auto next = static_cast<std::uint32_t>(run_.keys.size());
    const auto [at, is_new] =
        by_key_.try_emplace(std::tuple(key.operation, key.group, key.elements), next);
    if (is_new) run_.keys.push_back(key);
    return at->second;
  }

  const trace::Trace& trace_;
  RankRun& run_;
  bool has_args_ = true;
  bool is_first_ = true;
  std::unordered_map<trace::NameId, std::uint32_t> by_name_;
  std::map<std::tuple<std::string, std::string, std::optional<std::int64_t>>, std::uint32_t>
      by_key_;
};

RankRun run_of(const trace::Trace& trace, const GpuWork& gpu, const DeviceWork& device) {
  RankRun run;
  run.device = device.device;
  Keys keys(trace, run);
  const std::int64_t unix_ns = trace.run.base_time_ns.value_or(0);
  std::array<BusyTime, 3> busy;
  for (const std::uint32_t i : device.by_start) {
    const WorkRow& row = gpu.rows[i];
    busy[static_cast<std::size_t>(row.type)].add(row.start_ns, row.end_ns);
    if (row.type != WorkType::communication) continue;
    Collective one;
    one.start_ns = row.start_ns + unix_ns;
    one.end_ns = row.end_ns + unix_ns;
    if (row.launch != kNoSpan) one.launched_ns = trace.spans.start_ns[row.launch] + unix_ns;
    one.computed_ns = busy[0].before(row.start_ns);
    one.key = keys.of(row);
    run.collectives.push_back(one);
  }
  run.compute_ns = busy[0].total_ns();
  run.communication_ns = busy[1].total_ns();
  run.memory_ns = busy[2].total_ns();
  return run;
}

}  // namespace

std::vector<RankRun> rank_runs(const trace::Trace& trace, const GpuWork& gpu) {
  std::vector<RankStep> steps;
  for (const trace::SpanId id : step_spans(trace)) {
    steps.push_back({std::string(trace.name(id)), trace.spans.duration_ns[id]});
  }
  std::vector<RankRun> runs;
  for (const DeviceWork& device : gpu.devices) {
    runs.push_back(run_of(trace, gpu, device));
    runs.back().world_size = trace.run.world_size;
    runs.back().rank = trace.run.rank;
    runs.back().steps = steps;
  }
  return runs;
}

std::vector<RankRun> rank_runs(const trace::Trace& trace) {
  return rank_runs(trace, gpu_work(trace));
}

}  // namespace fathom::analyze
