#include "analyze/run/gpu_shares.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "analyze/classes/class_times.h"
#include "analyze/efficiency/collectives.h"
#include "analyze/hta/blocks.h"
#include "analyze/hta/device_info.h"
#include "analyze/run/idle_cause.h"
#include "analyze/run/set_up_calls.h"
#include "base/median.h"
#include "base/sort_runs.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::kNoSpan;
using trace::NameId;
using trace::SpanId;

constexpr std::size_t kLookedInto = 64;  // gaps of host code, the longest, for the name of the code

using TimeByName = std::unordered_map<NameId, std::int64_t>;
using TimeByRow = std::vector<std::int64_t>;  // as GpuWork::rows

// Work arrives by start. Of each type, the row that is over last stands for all that runs.
class ShareSweep {
 public:
  // Adds to the exposed time of each row of communication and copies.
  ShareSweep(Interval window, const GpuWork& work, GpuShares& shares, TimeByRow& exposed)
      : window_(window), now_(window.begin), work_(work), shares_(shares), exposed_(exposed) {}

  void add(const WorkRow& row) {
    advance(row.start_ns, &row);
    const WorkRow*& last = running(row.type);
    if (last == nullptr || row.end_ns > last->end_ns) last = &row;
  }

  void finish() { advance(window_.end, nullptr); }

  std::vector<IdleGapOfGpu> gaps;

 private:
  const WorkRow*& running(WorkType type) { return running_[static_cast<std::size_t>(type)]; }
  bool runs(const WorkRow* row) const { return row != nullptr && row->end_ns > now_; }
  bool runs(WorkType type) { return runs(running(type)); }

  // Accounts for the time up to `to`, at which `next` starts.
  void advance(std::int64_t to, const WorkRow* next) {
    to = std::min(to, window_.end);
    while (now_ < to) {
      std::int64_t until = to;
      for (const WorkRow* row : running_) {
        if (runs(row)) until = std::min(until, row->end_ns);
      }
      account(until, next);
      now_ = until;
    }
  }

  void account(std::int64_t until, const WorkRow* next) {
    const std::int64_t ns = until - now_;
    if (runs(WorkType::compute)) {
      shares_.compute_ns += ns;
      if (runs(WorkType::communication)) shares_.hidden_communication_ns += ns;
    } else if (runs(WorkType::communication)) {
      shares_.communication.ns += ns;
      exposed_[index_of(running(WorkType::communication))] += ns;
    } else if (runs(WorkType::memory)) {
      shares_.copy.ns += ns;
      exposed_[index_of(running(WorkType::memory))] += ns;
    } else {
      gaps.push_back({{now_, until}, last_over(), next});
    }
  }

  std::size_t index_of(const WorkRow* row) const {
    return static_cast<std::size_t>(row - work_.rows.data());
  }

  const WorkRow* last_over() const {
    const WorkRow* last = nullptr;
    for (const WorkRow* row : running_) {
      if (row != nullptr && (last == nullptr || row->end_ns > last->end_ns)) last = row;
    }
    return last;
  }

  Interval window_;
  std::int64_t now_;
  const GpuWork& work_;
  GpuShares& shares_;
  TimeByRow& exposed_;
  std::array<const WorkRow*, kWorkTypeNames.size()> running_ = {};
};

std::span<const std::uint32_t> rows_of(const DeviceWork& device) {
  return device.by_start;
}

std::optional<std::int64_t> bytes_of(const trace::Trace& trace, SpanId span) {
  const auto by_span = [](const trace::SpanBytes& a, SpanId b) { return a.span < b; };
  const auto found = std::lower_bound(trace.bytes.begin(), trace.bytes.end(), span, by_span);
  if (found == trace.bytes.end() || found->span != span) return std::nullopt;
  return found->bytes;
}

// What each piece of communication is, as people call it ("all-to-all"); the kernel's own word
// where nothing tells.
std::unordered_map<const WorkRow*, std::string> exchange_names(const trace::Trace& trace,
                                                               const GpuWork& work) {
  std::unordered_map<const WorkRow*, std::string> names;
  for (const CollectiveWork& one : collectives_of(trace, work)) {
    const WorkRow& row = work.rows[one.row];
    names[&row] = one.exchange == Exchange::other ? collective_operation(trace.names.view(row.name))
                                                  : std::string(name_of(one.exchange));
  }
  return names;
}

// What had most of the exposed time, and all that is known of it. `label` says which rows are one.
void name_exposed(ExposedWork& exposed, const TimeByRow& times, const trace::Trace& trace,
                  const GpuWork& work, const DeviceWork& device, WorkType type, auto label) {
  if (exposed.ns == 0) return;
  std::map<std::string, ExposedWork> by_label;
  std::map<std::string, bool> all_say;
  for (const std::uint32_t at : rows_of(device)) {
    const WorkRow& row = work.rows[at];
    if (row.type != type) continue;
    const std::string name = label(row);
    ExposedWork& one = by_label[name];
    one.what_ns += times[at];
    ++one.calls;
    one.work_ns += row.duration_ns();
    const std::optional<std::int64_t> moved = bytes_of(trace, row.span);
    bool& is_known = all_say.try_emplace(name, true).first->second;
    is_known = is_known && moved.has_value();
    one.bytes = one.bytes.value_or(0) + moved.value_or(0);
  }
  const auto most = std::max_element(by_label.begin(), by_label.end(), [](auto& a, auto& b) {
    return a.second.what_ns < b.second.what_ns;
  });
  const std::int64_t ns = exposed.ns;
  exposed = most->second;
  exposed.ns = ns;
  exposed.what = most->first;
  if (!all_say[most->first]) exposed.bytes.reset();
}

// The innermost operator, scope or function around a call; the call where there is none.
SpanId caller_of(const trace::Spans& spans, SpanId call) {
  SpanId function = kNoSpan;
  for (SpanId at = spans.parent[call]; at != kNoSpan; at = spans.parent[at]) {
    const trace::SpanKind kind = spans.kind[at];
    if (kind == trace::SpanKind::cpu_op || kind == trace::SpanKind::scope) return at;
    const bool may_be = kind == trace::SpanKind::python || kind == trace::SpanKind::annotation;
    if (may_be && function == kNoSpan) function = at;
  }
  return function == kNoSpan ? call : function;
}

// Idle time of one cause, by the name of what had it.
struct Blamed {
  std::int64_t ns = 0;
  std::uint64_t gaps = 0;
  std::string call;
  std::optional<std::int64_t> bytes;
};

class IdleAccount {
 public:
  IdleAccount(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
              const base::IntervalSet& apart, IdleCauseFinder& finder)
      : trace_(trace), work_(work), device_(device), apart_(apart), finder_(finder) {}

  void add(const IdleGapOfGpu& gap, GpuShares& shares) {
    const std::span<const Interval> apart = base::touching(apart_, gap.time);
    if (apart.empty()) return add_piece(gap, shares);
    for (const Interval& piece : base::subtract(std::span(&gap.time, 1), apart)) {
      add_piece({piece, gap.before, gap.after}, shares);
    }
  }

  void add_piece(const IdleGapOfGpu& gap, GpuShares& shares) {
    const std::int64_t ns = gap.time.length();
    shares.idle_ns += ns;
    const CauseOfGap cause = finder_.cause_of(gap);
    IdleTime& idle = shares.idle[static_cast<std::size_t>(cause.cause)];
    idle.ns += ns;
    ++idle.gaps;
    if (ns > idle.longest_ns) {
      idle.longest_ns = ns;
      if (cause.cause == IdleCause::not_recorded) longest_not_recorded_end_ = gap.time.end;
    }
    if (cause.cause == IdleCause::host_code) code_.push_back({ns, cause});
    if (cause.call != kNoSpan) blame(cause, ns, gap);
  }

  void finish(GpuShares& shares) {
    name_code();
    if (IdleTime& idle = shares.idle[static_cast<std::size_t>(IdleCause::not_recorded)];
        idle.gaps > 0) {
      idle.queued = queued_at(trace_, work_, device_, longest_not_recorded_end_);
    }
    for (std::size_t cause = 0; cause < shares.idle.size(); ++cause) {
      const auto most =
          std::max_element(blamed_[cause].begin(), blamed_[cause].end(),
                           [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
      if (most == blamed_[cause].end()) continue;
      IdleTime& idle = shares.idle[cause];
      idle.what = most->first;
      idle.call = most->second.call;
      idle.what_ns = most->second.ns;
      idle.what_gaps = most->second.gaps;
      idle.bytes = most->second.bytes;
    }
  }

 private:
  struct CodeGap {
    std::int64_t ns = 0;
    CauseOfGap cause;
  };

  void blame(const CauseOfGap& cause, std::int64_t ns, const IdleGapOfGpu& gap) {
    const bool is_sync = cause.cause == IdleCause::sync;
    const SpanId what = is_sync ? caller_of(trace_.spans, cause.call) : cause.call;
    Blamed& one = of(cause.cause, trace_.name(what));
    one.ns += ns;
    ++one.gaps;
    if (!is_sync) return;
    one.call = trace_.name(cause.call);
    const bool is_own_copy =
        cause.is_at_once && gap.before != nullptr && gap.before->type == WorkType::memory;
    if (!is_own_copy) return;
    const std::optional<std::int64_t> bytes = bytes_of(trace_, gap.before->span);
    if (bytes) one.bytes = std::max(one.bytes.value_or(0), *bytes);
  }

  // The longest gaps say which code it is; the others have the same or next to nothing.
  void name_code() {
    std::stable_sort(code_.begin(), code_.end(),
                     [](const CodeGap& a, const CodeGap& b) { return a.ns > b.ns; });
    for (const CodeGap& gap : std::span(code_).first(std::min(kLookedInto, code_.size()))) {
      const CodeOfGap code = finder_.code_of(gap.cause.track, gap.cause.host);
      Blamed& one = of(IdleCause::host_code, code.name);
      one.ns += code.name.empty() ? gap.ns : std::min(gap.ns, code.ns);
      ++one.gaps;
    }
  }

  Blamed& of(IdleCause cause, std::string_view name) {
    return blamed_[static_cast<std::size_t>(cause)][std::string(name)];
  }

  const trace::Trace& trace_;
  const GpuWork& work_;
  const DeviceWork& device_;
  const base::IntervalSet& apart_;
  IdleCauseFinder& finder_;
  std::int64_t longest_not_recorded_end_ = 0;
  std::vector<CodeGap> code_;
  std::array<std::map<std::string, Blamed>, kIdleCauseNames.size()> blamed_;
};

void add_launches(GpuShares& shares, const trace::Trace& trace, const GpuWork& work,
                  const DeviceWork& device) {
  std::vector<SpanId> calls;  // by thread and time, once sorted
  std::vector<std::int64_t> kernels;
  for (const std::uint32_t at : rows_of(device)) {
    const WorkRow& row = work.rows[at];
    if (row.launch != kNoSpan) calls.push_back(row.launch);
    if (trace.spans.kind[row.span] == trace::SpanKind::kernel) kernels.push_back(row.duration_ns());
  }
  base::sort_runs(std::span(calls), std::less<>());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  shares.launches = calls.size();
  if (!kernels.empty()) shares.kernel_ns = base::median(std::move(kernels));
  std::vector<std::int64_t> apart;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    if (trace.spans.track[calls[i]] != trace.spans.track[calls[i - 1]]) continue;
    apart.push_back(trace.spans.start_ns[calls[i]] - trace.spans.start_ns[calls[i - 1]]);
  }
  if (!apart.empty()) shares.launch_period_ns = base::median(std::move(apart));
}

void add_communication_blocks(GpuShares& shares, const trace::Trace& trace, const GpuWork& work,
                              const DeviceWork& device) {
  constexpr double kMuchHiddenPct = 10;
  if (shares.pct(shares.hidden_communication_ns) < kMuchHiddenPct) return;
  std::map<std::int64_t, std::int64_t> times;
  for (const std::uint32_t at : rows_of(device)) {
    const WorkRow& row = work.rows[at];
    if (row.type != WorkType::communication) continue;
    if (const auto blocks = blocks_of(trace.args(row.span))) times[*blocks] += row.duration_ns();
  }
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != times.end()) shares.communication_blocks = most->first;
  const trace::DeviceInfo* const info = device_info(trace, device.device);
  if (info != nullptr) shares.multiprocessors = info->multiprocessors;
}

// Which part of what the GPU computed is the largest: the one place that says what a part is. A
// class of kernels; the kernel where its class says nothing.
void add_largest(GpuShares& shares, const trace::Trace& trace, const GpuWork& work,
                 const DeviceWork& device) {
  for (const ClassTime& one : class_times(work, device)) {
    const KernelClass what = one.kernel_class;
    if (what == KernelClass::copy || what == KernelClass::fill) continue;
    if (what == KernelClass::communication) continue;
    if (what == KernelClass::other) break;
    shares.largest = label_of(what);
    shares.largest_class = what;
    shares.largest_pct = one.share_pct;
    return;
  }
  TimeByName times;
  std::int64_t all = 0;
  for (const std::uint32_t at : rows_of(device)) {
    const WorkRow& row = work.rows[at];
    all += row.duration_ns();
    if (row.type == WorkType::compute) times[row.name] += row.duration_ns();
  }
  std::int64_t most = 0;
  for (const auto& [name, ns] : times) {
    const std::string_view text = trace.names.view(name);
    if (ns < most || (ns == most && text >= shares.largest)) continue;
    most = ns;
    shares.largest = text;
  }
  if (all > 0) shares.largest_pct = static_cast<double>(most) / static_cast<double>(all) * 100;
}

// From the first work that a step launched to that of the next.
std::optional<std::int64_t> step_period(const trace::Trace& trace, const GpuWork& work,
                                        const std::vector<SpanId>& steps) {
  if (steps.size() < 2 || work.rows.empty()) return std::nullopt;
  std::vector<std::int64_t> first(steps.size(), INT64_MAX);
  const auto begins_before = [&](std::int64_t time, SpanId step) {
    return time < trace.spans.start_ns[step];
  };
  for (const WorkRow& row : work.rows) {
    if (row.launch == kNoSpan) continue;
    const auto after = std::upper_bound(steps.begin(), steps.end(),
                                        trace.spans.start_ns[row.launch], begins_before);
    if (after == steps.begin()) continue;
    std::int64_t& start = first[static_cast<std::size_t>(after - steps.begin()) - 1];
    start = std::min(start, row.start_ns);
  }
  std::vector<std::int64_t> periods;
  for (std::size_t i = 1; i < first.size(); ++i) {
    const bool both = first[i] != INT64_MAX && first[i - 1] != INT64_MAX;
    if (both && first[i] > first[i - 1]) periods.push_back(first[i] - first[i - 1]);
  }
  if (periods.empty()) return std::nullopt;
  return base::median(std::move(periods));
}

std::int64_t build_time(const trace::Trace& trace, const Wall& wall) {
  std::vector<bool> builds(trace.names.size());
  bool any = false;
  for (NameId id = 0; id < trace.names.size(); ++id) {  // each distinct name once
    builds[id] = set_up_role(trace.names.view(id)) == SetUpRole::program;
    any = any || builds[id];
  }
  if (!any) return 0;
  std::vector<Interval> times;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (!builds[trace.spans.name[id]]) continue;
    const Interval time = {std::max(trace.spans.start_ns[id], wall.time.begin),
                           std::min(trace.spans.end_ns(id), wall.time.end)};
    const bool is_call = trace.spans.kind[id] == trace::SpanKind::runtime_call;
    if (is_call && time.length() > 0) times.push_back(time);
  }
  const base::IntervalSet apart = base::unite(wall.set_up, wall.unknown);
  return base::total_length(base::subtract(base::normalize(std::move(times)), apart));
}

}  // namespace

std::uint64_t queued_at(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                        std::int64_t time_ns) {
  const auto begun =
      std::partition_point(device.by_start.begin(), device.by_start.end(),
                           [&](std::uint32_t row) { return work.rows[row].start_ns < time_ns; });
  return static_cast<std::uint64_t>(
      std::count_if(begun, device.by_start.end(), [&](std::uint32_t row) {
        const SpanId launch = work.rows[row].launch;
        return launch != kNoSpan && trace.spans.start_ns[launch] < time_ns;
      }));
}

RunShares run_shares(const trace::Trace& trace, const GpuWork& work, const Wall& wall,
                     const std::vector<SpanId>& steps) {
  RunShares found;
  found.wall = wall;
  found.steps = steps.size();
  found.build_ns = build_time(trace, wall);
  if (work.rows.empty()) return found;
  found.step_ns = step_period(trace, work, steps);
  const base::IntervalSet apart = base::unite(wall.set_up, wall.unknown);
  IdleCauseFinder finder(trace, work);
  TimeByRow exposed(work.rows.size());
  std::unordered_map<const WorkRow*, std::string> names;  // of exchanges, once there is one exposed
  for (const DeviceWork& device : work.devices) {
    GpuShares& shares = found.gpus.emplace_back();
    shares.device = device.device;
    shares.wall_ns = wall.length_ns();
    ShareSweep sweep(wall.time, work, shares, exposed);
    for (const std::uint32_t at : rows_of(device)) sweep.add(work.rows[at]);
    sweep.finish();
    finder.look_at(device, wall.time, shares.compute_ns + shares.communication.ns + shares.copy.ns);
    IdleAccount idle(trace, work, device, apart, finder);
    for (const IdleGapOfGpu& gap : sweep.gaps) idle.add(gap, shares);
    idle.finish(shares);
    if (shares.communication.ns > 0) {
      if (names.empty()) names = exchange_names(trace, work);
      name_exposed(shares.communication, exposed, trace, work, device, WorkType::communication,
                   [&](const WorkRow& row) { return names.at(&row); });
    }
    name_exposed(shares.copy, exposed, trace, work, device, WorkType::memory,
                 [&](const WorkRow& row) { return std::string(trace.names.view(row.name)); });
    add_launches(shares, trace, work, device);
    add_communication_blocks(shares, trace, work, device);
    add_largest(shares, trace, work, device);
  }
  return found;
}

}  // namespace fathom::analyze
