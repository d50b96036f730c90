#include "analyze/run/session.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/flame/flame.h"
#include "analyze/memory/memory.h"
#include "analyze/run/idle_gaps.h"
#include "analyze/run/session_bottlenecks.h"
#include "base/interval_set.h"
#include "base/json_scan.h"
#include "trace/scope_parts.h"

namespace fathom::analyze {
namespace {

using base::Interval;
using trace::SpanId;
using trace::SpanKind;

constexpr std::size_t kBottlenecks = 5;
constexpr std::size_t kGaps = 5;
constexpr std::size_t kBuilds = 5;       // the longest; a program can hold millions
constexpr std::size_t kLookedAt = 1000;  // builds that may have failed
constexpr std::int64_t kFlameParts = 1000;

void add_time(ProfileSession& session, const trace::Trace& trace, Interval life,
              const base::TimeSplit& machine) {
  session.total_ns = life.length();
  if (!trace::has_gpu_activity(trace)) return;
  session.set_parts(machine.within(life));
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

struct LaunchSizeText {
  std::string global;
  std::string local;
};

// The size that all launches of a kernel had, "several" where they differ. Launches of one shape
// are of one size, so one of each is looked at.
std::unordered_map<std::string_view, LaunchSizeText> launch_sizes(const trace::Trace& trace) {
  std::map<std::pair<trace::NameId, trace::NameId>, SpanId> one_of_each;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != SpanKind::kernel) continue;
    one_of_each.try_emplace({trace.spans.name[id], trace.spans.shape[id]}, id);
  }
  const auto join = [](std::string& known, const std::string& next) {
    if (known != next) known = "several";
  };
  std::unordered_map<std::string_view, LaunchSizeText> sizes;
  for (const auto& [shape, id] : one_of_each) {
    const std::string args = trace.args(id);
    const LaunchSizeText size = {argument(args, "global"), argument(args, "local")};
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
    KernelSummary& kernel = session.kernels.emplace_back();
    static_cast<OperationFigures&>(kernel) = figures_of(operation);
    kernel.name = operation.name;
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
  if (is_known) session.copied_bytes = bytes;
}

void add_device(ProfileSession& session, const DeviceMemory& device) {
  if (device.levels.empty()) return;
  session.peak_memory_bytes =
      std::max(session.peak_memory_bytes, std::optional(device.peak_bytes()));
  session.allocated_memory_bytes =
      session.allocated_memory_bytes.value_or(0) + device.levels.back().allocated;
  session.reserved_memory_bytes = std::max(session.reserved_memory_bytes, device.most_reserved);
  session.leaks.insert(session.leaks.end(), device.leaks.begin(), device.leaks.end());
}

void add_memory(ProfileSession& session, const Memory& found) {
  for (const DeviceMemory& device : found.devices) {
    if (device.device == trace::MemoryDevice::gpu) add_device(session, device);
  }
  std::stable_sort(session.leaks.begin(), session.leaks.end(),
                   [](const MemoryUse& a, const MemoryUse& b) { return a.bytes > b.bytes; });
  session.peak_host_memory_bytes = peak_rss(found);
}

// The arguments of a call are looked up one by one, so of many builds only the first are.
void add_if_failed(ProfileSession& session, const trace::Trace& trace, SpanId id, Interval life) {
  FailedBuild failed = {std::string(trace.name(id)), trace.spans.start_ns[id] - life.begin, 0, {}};
  const std::string args = trace.args(id);
  base::for_each_member(args, base::JsonScanner::Mode::lenient,
                        [&](std::string_view key, std::string_view value) {
                          if (key == "error") failed.error = base::integer_of(value).value_or(0);
                          if (key == "log") failed.log = base::text_of(value).value_or("");
                        });
  if (failed.error != 0) session.failed_builds.push_back(std::move(failed));
}

void add_builds(ProfileSession& session, const trace::Trace& trace, Interval life) {
  std::vector<bool> is_build;  // by name
  for (trace::NameId name = 0; name < trace.names.size(); ++name) {
    is_build.push_back(set_up_role(trace.names.view(name)) == SetUpRole::program);
  }
  std::size_t looked_at = 0;
  std::vector<Interval> times;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != SpanKind::runtime_call || !is_build[trace.spans.name[id]]) continue;
    session.builds.push_back({std::string(trace.name(id)), trace.spans.start_ns[id] - life.begin,
                              trace.spans.duration_ns[id]});
    const std::int64_t begin = trace.spans.start_ns[id];
    times.push_back(
        {std::max(begin, life.begin), std::min(begin + trace.spans.duration_ns[id], life.end)});
    if (++looked_at <= kLookedAt && session.failed_builds.size() < kBuilds) {
      add_if_failed(session, trace, id, life);
    }
  }
  std::erase_if(times, [](const Interval& time) { return time.end <= time.begin; });
  session.total_build_ns = base::total_length(base::normalize(std::move(times)));
  std::stable_sort(session.builds.begin(), session.builds.end(),
                   [](const auto& a, const auto& b) { return a.duration_ns > b.duration_ns; });
  if (session.builds.size() > kBuilds) session.builds.resize(kBuilds);
}

void add_failed_calls(ProfileSession& session, const trace::Trace& trace) {
  for (const trace::FailedCalls& failed : trace.failed_calls) {
    if (set_up_role(failed.call) != SetUpRole::program) {  // those have their own list
      session.failed_calls.push_back({failed.call, failed.error, failed.calls});
    }
  }
  std::stable_sort(session.failed_calls.begin(), session.failed_calls.end(),
                   [](const auto& a, const auto& b) { return a.calls > b.calls; });
}

// As counted from the spans that are here; where not every scope is in the file, as the recorder
// counted them.
void add_scopes(ProfileSession& session, const trace::Trace& trace,
                const std::vector<Operation>& operations) {
  std::map<std::string_view, TimeParts> parts;
  if (trace::has_gpu_activity(trace)) {
    for (const trace::ScopeParts& scope : trace::scope_parts(trace)) {
      parts[trace.name(scope.span)] += scope.parts;
    }
  }
  for (const Operation& operation : operations) {
    if (operation.kind != SpanKind::scope) continue;
    OperationFigures& figures = session.scopes[std::string(operation.name)] = figures_of(operation);
    const auto known = parts.find(operation.name);
    if (known != parts.end()) figures.set_parts(known->second);
  }
  for (const NamedFigures& recorded : trace.operations) {
    OperationFigures& figures = session.scopes[recorded.operation];
    if (figures.calls < recorded.calls) {
      figures = recorded;
    } else {
      figures.errors = recorded.errors;
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
    session.flame_graph_data.push_back(
        {std::string(tree.name(next.node)), next.parent, node.calls, node.cpu_ns, node.gpu_ns});
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

ProfileSession session(const trace::Trace& trace, Interval life, const base::TimeSplit& machine,
                       const std::vector<Operation>& operations, const Memory& memory,
                       std::string trace_path) {
  ProfileSession session;
  session.name = trace.run.command;
  session.trace_path = std::move(trace_path);
  add_time(session, trace, life, machine);
  add_kernels(session, trace, operations);
  add_copies(session, trace);
  add_memory(session, memory);
  add_scopes(session, trace, operations);
  session.bottlenecks = session_bottlenecks(trace, life, operations, kBottlenecks);
  add_builds(session, trace, life);
  add_failed_calls(session, trace);
  for (const GpuGap& gap : analyze::idle_gaps(trace, life, kGaps)) {
    const std::int64_t length = gap.time.length();
    session.idle_gaps.push_back({gap.time.begin - life.begin, length, std::string(gap.host),
                                 static_cast<double>(gap.host_ns) / static_cast<double>(length)});
  }
  add_flame(session, trace, life);
  return session;
}

}  // namespace fathom::analyze
