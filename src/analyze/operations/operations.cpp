#include "analyze/operations/operations.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/operations/steps.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;
using trace::SpanKind;

// One name for what is one operation.
std::string_view operation_name(std::string_view name, SpanKind kind) {
  const bool is_step = kind == SpanKind::annotation || kind == SpanKind::gpu_annotation;
  return is_step && name.starts_with(kStepName) ? kStepName : name;
}

// Spans by name and kind, with room for the answer to "which operation is this name of this kind".
class Grouping {
 public:
  Grouping(const trace::Trace& trace, std::span<const KernelClass> classes)
      : trace_(trace), classes_(classes) {}

  Operation& of(trace::NameId name, SpanKind kind) {
    const std::uint64_t key = std::uint64_t{name} << 8 | static_cast<unsigned>(kind);
    const auto [at, is_new] = by_id_.try_emplace(key, 0);
    if (is_new) {
      at->second = find_or_add(operation_name(trace_.names.view(name), kind), kind);
      found_[at->second].kernel_class = class_of(name, kind);
    }
    return found_[at->second];
  }

  std::vector<Operation> take() { return std::move(found_); }

 private:
  std::size_t find_or_add(std::string_view name, SpanKind kind) {
    if (name == kStepName) {
      for (std::size_t i = 0; i < found_.size(); ++i) {
        if (found_[i].name == kStepName && found_[i].kind == kind) return i;
      }
    }
    found_.push_back({name, kind, {}, 0, false, {}});
    return found_.size() - 1;
  }

  std::optional<KernelClass> class_of(trace::NameId name, SpanKind kind) const {
    if (!trace::is_gpu_work(kind)) return std::nullopt;
    if (kind != SpanKind::kernel) return analyze::kernel_class(kind, {});
    return classes_.empty() ? std::nullopt : std::optional(classes_[name]);
  }

  const trace::Trace& trace_;
  std::span<const KernelClass> classes_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::vector<Operation> found_;
};

// As the profiler of PyTorch writes functions: "threading.py(359): wait".
bool is_python_waiting(std::string_view name) {
  const auto is_function = [&](std::string_view file, std::string_view function) {
    return name.starts_with(file) && name.ends_with(function);
  };
  return is_function("threading.py(", ": wait") || is_function("threading.py(", ": join") ||
         is_function("threading.py(", ": _wait_for_tstate_lock") ||
         is_function("selectors.py(", ": select") || is_function("queue.py(", ": get") ||
         name.starts_with("<built-in method acquire of _thread.lock") ||
         name.starts_with("<built-in function sleep");
}

// For the GPU. What was waited for is ranked by itself.
bool is_wait(const Operation& operation) {
  return operation.kind == SpanKind::sync ||
         (operation.kind == SpanKind::runtime_call && is_sync(call_role(operation.name)));
}

// What the recorder knows of a scope tells more than that it ran on the host.
Part largest_part(const Operation& operation, const std::vector<NamedFigures>& recorded) {
  const Part usual = part_of(operation.kind);
  if (operation.kind != trace::SpanKind::scope) return usual;
  const auto known = std::ranges::find(recorded, operation.name, &NamedFigures::operation);
  if (known == recorded.end() || !known->gpu_ns || !known->transfer_ns || !known->overhead_ns ||
      !known->cpu_ns) {
    return usual;
  }
  const std::pair<double, Part> parts[] = {{*known->cpu_ns, Part::cpu},
                                           {*known->gpu_ns, Part::gpu},
                                           {*known->transfer_ns, Part::transfer},
                                           {*known->overhead_ns, Part::overhead}};
  return std::ranges::max_element(parts, {}, &std::pair<double, Part>::first)->second;
}

}  // namespace

// Children are contained in their parent and come in order of start, so one running end a parent is
// enough to measure what they cover together, overlapping or not.
std::vector<std::int64_t> self_times(const trace::Spans& spans) {
  std::vector<std::int64_t> self = spans.duration_ns;
  std::vector<std::int64_t> covered_to = spans.start_ns;
  for (SpanId id = 0; id < spans.size(); ++id) {
    const SpanId parent = spans.parent[id];
    if (parent == trace::kNoSpan || spans.kind[id] == SpanKind::unfinished) continue;
    const std::int64_t from = std::max(spans.start_ns[id], covered_to[parent]);
    const std::int64_t to = spans.end_ns(id);
    if (to <= from) continue;
    self[parent] -= to - from;
    covered_to[parent] = to;
  }
  return self;
}

std::string_view name_of(Part part) {
  static constexpr std::array<std::string_view, 4> kNames = {"cpu", "gpu", "transfer", "overhead"};
  return kNames[static_cast<std::size_t>(part)];
}

Part part_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kernel:
    case SpanKind::fill:
    case SpanKind::gpu_annotation:
      return Part::gpu;
    case SpanKind::copy:
      return Part::transfer;
    case SpanKind::runtime_call:
    case SpanKind::sync:
    case SpanKind::overhead:
      return Part::overhead;
    default:
      return Part::cpu;
  }
}

std::vector<Operation> operations(const trace::Trace& trace, std::span<const KernelClass> classes) {
  const trace::Spans& spans = trace.spans;
  const std::vector<std::int64_t> self = self_times(spans);
  Grouping grouping(trace, classes);
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.kind[id] == SpanKind::unfinished) continue;
    Operation& operation = grouping.of(spans.name[id], spans.kind[id]);
    operation.durations.add(spans.duration_ns[id]);
    operation.self_ns += self[id];
  }
  std::vector<Operation> found = grouping.take();
  const bool kinds_are_known = std::any_of(
      found.begin(), found.end(), [](const Operation& o) { return o.kind != SpanKind::other; });
  for (Operation& operation : found) {
    operation.is_frame = operation.kind == SpanKind::gpu_annotation ||
                         (operation.kind == SpanKind::other && kinds_are_known) ||
                         (operation.kind == SpanKind::python && is_python_waiting(operation.name));
  }
  std::sort(found.begin(), found.end(), [](const Operation& a, const Operation& b) {
    if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
    if (a.name != b.name) return a.name < b.name;
    return a.kind < b.kind;
  });
  return found;
}

OperationFigures figures_of(const Operation& operation) {
  const base::DurationStats& stats = operation.durations;
  OperationFigures figures;
  figures.calls = stats.count();
  figures.total_ns = static_cast<double>(stats.sum_ns());
  figures.self_ns = static_cast<double>(operation.self_ns);
  figures.min_ns = static_cast<double>(stats.min_ns());
  figures.max_ns = static_cast<double>(stats.max_ns());
  figures.std_dev_ns = stats.std_dev_ns();
  figures.p50_ns = stats.quantile_ns(0.50);
  figures.p95_ns = stats.quantile_ns(0.95);
  figures.p99_ns = stats.quantile_ns(0.99);
  return figures;
}

std::vector<RankedOperation> bottlenecks(const std::vector<Operation>& operations, std::size_t top,
                                         const std::vector<NamedFigures>& recorded) {
  double whole = 0;
  for (const Operation& operation : operations) {
    if (!operation.is_frame) whole += static_cast<double>(operation.self_ns);
  }
  std::vector<RankedOperation> found;
  double cumulative = 0;
  for (std::size_t i = 0; i < operations.size() && found.size() < top; ++i) {
    if (operations[i].is_frame || operations[i].self_ns <= 0 || is_wait(operations[i])) continue;
    const double share = static_cast<double>(operations[i].self_ns) / whole * 100;
    cumulative += share;
    found.push_back({i, largest_part(operations[i], recorded), share, cumulative});
  }
  return found;
}

}  // namespace fathom::analyze
