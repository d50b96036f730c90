#include "analyze/run/session.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyze/flame/flame.h"
#include "analyze/memory/memory.h"
#include "analyze/run/activity.h"
#include "analyze/run/idle_gaps.h"
#include "analyze/run/session_bottlenecks.h"
#include "base/interval_set.h"
#include "base/partition.h"
#include "trace/scope_parts.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::SpanId;
using trace::SpanKind;

constexpr std::size_t kBottlenecks = 5;
constexpr std::size_t kGaps = 5;
constexpr std::size_t kBuilds = 5;
constexpr std::int64_t kFlameParts = 1000;
constexpr double kBytesPerMb = 1024.0 * 1024.0;

double ms(auto ns) {
  return static_cast<double>(ns) / 1e6;
}
double mb(auto bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

Interval life_of(const trace::Trace& trace) {
  if (trace.run.begin_ns && trace.run.end_ns) return {*trace.run.begin_ns, *trace.run.end_ns};
  const Activity found = activity(trace);
  return {found.begin_ns, found.end_ns};
}

void add_time(ProfileSession& session, const trace::Trace& trace, Interval life) {
  session.total_time_ms = ms(life.length());
  if (!trace::has_gpu_activity(trace)) return;
  const trace::Spans& spans = trace.spans;
  std::vector<Interval> kernels;
  std::vector<Interval> copies;
  std::vector<Interval> calls;
  for (SpanId id = 0; id < spans.size(); ++id) {
    const Interval time{spans.start_ns[id], spans.end_ns(id)};
    switch (part_of(spans.kind[id])) {
      case Part::gpu:
        if (spans.kind[id] != SpanKind::gpu_annotation) kernels.push_back(time);
        break;
      case Part::transfer:
        copies.push_back(time);
        break;
      case Part::overhead:
        if (trace.tracks[spans.track[id]].kind == trace::TrackKind::thread) calls.push_back(time);
        break;
      case Part::cpu:
        break;
    }
  }
  const base::TimeParts parts =
      base::partition_time(life, base::normalize(std::move(kernels)),
                           base::normalize(std::move(copies)), base::normalize(std::move(calls)));
  session.gpu_time_ms = ms(parts.gpu);
  session.transfer_time_ms = ms(parts.transfer);
  session.overhead_ms = ms(parts.overhead);
  session.cpu_time_ms = ms(parts.cpu);
}

// An argument of a span as text, from its JSON: a string as it is, an array as "a×b×c".
std::string argument(const std::string& json, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":";
  std::size_t at = json.find(key);
  if (at == std::string::npos) return {};
  at = json.find_first_not_of(' ', at + key.size());
  if (at == std::string::npos || (json[at] != '"' && json[at] != '[')) return {};
  const std::size_t end = json.find(json[at] == '"' ? '"' : ']', at + 1);
  if (end == std::string::npos) return {};
  std::string text = json.substr(at + 1, end - at - 1);
  std::erase(text, ' ');
  std::replace(text.begin(), text.end(), ',', 'x');
  return text;
}

struct LaunchSize {
  std::string global;
  std::string local;
};

// The size that all launches of a kernel had, "several" where they differ. Launches of one shape
// are of one size, so one of each is looked at.
std::unordered_map<std::string_view, LaunchSize> launch_sizes(const trace::Trace& trace) {
  std::map<std::pair<trace::NameId, trace::NameId>, SpanId> one_of_each;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != SpanKind::kernel) continue;
    one_of_each.try_emplace({trace.spans.name[id], trace.spans.shape[id]}, id);
  }
  const auto join = [](std::string& known, const std::string& next) {
    if (known != next) known = "several";
  };
  std::unordered_map<std::string_view, LaunchSize> sizes;
  for (const auto& [shape, id] : one_of_each) {
    const std::string args = trace.args(id);
    const LaunchSize size = {argument(args, "global"), argument(args, "local")};
    const auto [known, is_first] = sizes.try_emplace(trace.name(id), size);
    if (is_first) continue;
    join(known->second.global, size.global);
    join(known->second.local, size.local);
  }
  return sizes;
}

void add_kernels(ProfileSession& session, const trace::Trace& trace,
                 const std::vector<Operation>& operations) {
  const auto sizes = launch_sizes(trace);
  for (const Operation& operation : operations) {  // by self time, which is all a kernel has
    if (operation.kind != SpanKind::kernel) continue;
    const base::DurationStats& stats = operation.durations;
    KernelSummary& kernel = session.kernels.emplace_back();
    kernel.name = operation.name;
    kernel.calls = stats.count();
    kernel.total_time_ms = ms(stats.sum_ns());
    kernel.mean_time_ms = ms(stats.mean_ns());
    kernel.min_time_ms = ms(stats.min_ns());
    kernel.max_time_ms = ms(stats.max_ns());
    kernel.global_size = sizes.at(operation.name).global;
    kernel.local_size = sizes.at(operation.name).local;
  }
}

void add_copies(ProfileSession& session, const trace::Trace& trace) {
  for (const SpanKind kind : trace.spans.kind) session.copies += kind == SpanKind::copy ? 1 : 0;
  std::int64_t bytes = 0;
  bool is_known = false;
  for (const trace::SpanBytes& item : trace.bytes) {
    if (trace.spans.kind[item.span] != SpanKind::copy) continue;
    bytes += item.bytes;
    is_known = true;
  }
  if (is_known) session.copied_mb = mb(bytes);
}

void add_device(ProfileSession& session, const DeviceMemory& device) {
  if (device.levels.empty()) return;
  const auto raise = [](std::optional<double>& most, double figure) {
    most = std::max(most.value_or(0), figure);
  };
  raise(session.peak_memory_mb, mb(device.peak_bytes()));
  session.allocated_memory_mb =
      session.allocated_memory_mb.value_or(0) + mb(device.levels.back().allocated);
  for (const MemoryLevel& level : device.levels) {
    if (level.reserved) raise(session.reserved_memory_mb, mb(*level.reserved));
  }
  for (const MemoryUse& leak : device.leaks) {
    session.leaks.push_back(
        {std::string(leak.scope), std::string(leak.call), mb(leak.bytes), leak.blocks});
  }
}

void add_memory(ProfileSession& session, const Memory& found) {
  for (const DeviceMemory& device : found.devices) {
    if (device.device == trace::MemoryDevice::gpu) add_device(session, device);
  }
  std::stable_sort(session.leaks.begin(), session.leaks.end(),
                   [](const MemoryLeak& a, const MemoryLeak& b) { return a.mb > b.mb; });
  if (const auto most = peak_rss(found)) session.peak_host_memory_mb = mb(*most);
}

// A program can hold millions of builds; the longest few tell.
bool is_build(std::string_view call) {
  for (const std::string_view begin : {"clBuildProgram", "clCompileProgram", "clLinkProgram",
                                       "cuModuleLoad", "cuLibraryLoad", "cuLinkComplete"}) {
    if (call.starts_with(begin)) return true;
  }
  return false;
}

void add_builds(ProfileSession& session, const trace::Trace& trace, Interval life) {
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != SpanKind::runtime_call || !is_build(trace.name(id))) continue;
    session.builds.push_back({std::string(trace.name(id)),
                              ms(trace.spans.start_ns[id] - life.begin),
                              ms(trace.spans.duration_ns[id])});
    session.total_build_ms += session.builds.back().duration_ms;
  }
  std::stable_sort(session.builds.begin(), session.builds.end(),
                   [](const auto& a, const auto& b) { return a.duration_ms > b.duration_ms; });
  if (session.builds.size() > kBuilds) session.builds.resize(kBuilds);
}

// What the recorder counted, where not every scope is in the file.
Summary recorded_summary(const trace::OperationSummary& recorded) {
  Summary summary;
  summary.call_count = recorded.calls;
  summary.total_time_ms = ms(recorded.total_ns.value_or(0));
  summary.self_time_ms = ms(recorded.self_ns.value_or(recorded.total_ns.value_or(0)));
  if (recorded.calls > 0) {
    summary.avg_time_ms = summary.total_time_ms / static_cast<double>(recorded.calls);
  }
  summary.min_time_ms = ms(recorded.min_ns.value_or(0));
  summary.max_time_ms = ms(recorded.max_ns.value_or(0));
  summary.std_dev_ms = ms(recorded.std_dev_ns.value_or(0));
  summary.p50_ms = ms(recorded.p50_ns.value_or(0));
  summary.p95_ms = ms(recorded.p95_ns.value_or(0));
  summary.p99_ms = ms(recorded.p99_ns.value_or(0));
  summary.error_count = recorded.errors.value_or(0);
  return summary;
}

Summary counted_summary(const Operation& operation) {
  const base::DurationStats& stats = operation.durations;
  Summary summary;
  summary.call_count = stats.count();
  summary.total_time_ms = ms(stats.sum_ns());
  summary.self_time_ms = ms(operation.self_ns);
  summary.avg_time_ms = ms(stats.mean_ns());
  summary.min_time_ms = ms(stats.min_ns());
  summary.max_time_ms = ms(stats.max_ns());
  summary.std_dev_ms = ms(stats.std_dev_ns());
  summary.p50_ms = ms(stats.quantile_ns(0.50));
  summary.p95_ms = ms(stats.quantile_ns(0.95));
  summary.p99_ms = ms(stats.quantile_ns(0.99));
  return summary;
}

void add_scopes(ProfileSession& session, const trace::Trace& trace,
                const std::vector<Operation>& operations) {
  std::map<std::string_view, base::TimeParts> parts;
  if (trace::has_gpu_activity(trace)) {
    for (const trace::ScopeParts& scope : trace::scope_parts(trace)) {
      base::TimeParts& sum = parts[trace.name(scope.span)];
      sum.gpu += scope.parts.gpu;
      sum.transfer += scope.parts.transfer;
      sum.overhead += scope.parts.overhead;
      sum.cpu += scope.parts.cpu;
    }
  }
  for (const Operation& operation : operations) {
    if (operation.kind != SpanKind::scope) continue;
    Summary& summary = session.scopes[std::string(operation.name)] = counted_summary(operation);
    const auto known = parts.find(operation.name);
    if (known == parts.end()) continue;
    summary.total_gpu_time_ms = ms(known->second.gpu);
    summary.total_transfer_time_ms = ms(known->second.transfer);
    summary.total_overhead_ms = ms(known->second.overhead);
    summary.total_cpu_time_ms = ms(known->second.cpu);
    if (summary.total_time_ms > 0) {
      summary.avg_gpu_utilization = *summary.total_gpu_time_ms / summary.total_time_ms;
    }
  }
  for (const trace::OperationSummary& recorded : trace.operations) {
    Summary& summary = session.scopes[recorded.operation];
    if (summary.call_count < recorded.calls) {
      summary = recorded_summary(recorded);
    } else {
      summary.error_count = recorded.errors.value_or(0);
    }
  }
}

// The tree in the order of a walk, heavier children first.
void add_flame(ProfileSession& session, const trace::Trace& trace, Interval life) {
  FlameOptions options;
  options.min_duration_ns = std::max(options.min_duration_ns, life.length() / kFlameParts);
  const FlameTree tree = flame_tree(trace, options);
  if (tree.nodes.size() < 2) return;
  const auto children = children_by_weight(tree, FlameWeight::cpu);
  struct Next {
    FlameNodeId node;
    std::size_t parent;
  };
  std::vector<Next> open = {{0, 0}};
  while (!open.empty()) {
    const Next next = open.back();
    open.pop_back();
    const FlameNode& node = tree.nodes[next.node];
    const std::size_t place = session.flame_graph_data.size();
    session.flame_graph_data.push_back({std::string(tree.name(next.node)), next.parent, node.calls,
                                        ms(node.cpu_ns), ms(node.gpu_ns)});
    const std::vector<FlameNodeId>& below = children[next.node];
    for (auto child = below.rbegin(); child != below.rend(); ++child) {
      open.push_back({*child, place});
    }
  }
}

}  // namespace

bool is_fathom_run(const trace::Trace& trace) {
  return trace.run.format == "Fathom run";
}

ProfileSession session(const trace::Trace& trace, const std::vector<Operation>& operations,
                       const Memory& memory, std::string trace_path) {
  const Interval life = life_of(trace);
  ProfileSession session;
  session.name = trace.run.command;
  session.trace_path = std::move(trace_path);
  add_time(session, trace, life);
  add_kernels(session, trace, operations);
  add_copies(session, trace);
  add_memory(session, memory);
  add_scopes(session, trace, operations);
  session.bottlenecks = session_bottlenecks(trace, operations, kBottlenecks);
  add_builds(session, trace, life);
  for (const GpuGap& gap : analyze::idle_gaps(trace, kGaps)) {
    const std::int64_t length = gap.time.length();
    session.idle_gaps.push_back({ms(gap.time.begin - life.begin), ms(length), std::string(gap.host),
                                 static_cast<double>(gap.host_ns) / static_cast<double>(length)});
  }
  add_flame(session, trace, life);
  return session;
}

}  // namespace fathom::analyze
