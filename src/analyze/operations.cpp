#include "analyze/operations.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace fathom::analyze {
namespace {

using trace::SpanId;
using trace::SpanKind;

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

bool competes(const Operation& operation, bool kinds_are_known) {
  return operation.kind != SpanKind::gpu_annotation &&
         (operation.kind != SpanKind::other || !kinds_are_known);
}

}  // namespace

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

std::vector<Operation> operations(const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  const std::vector<std::int64_t> self = self_times(spans);
  std::vector<Operation> found;
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (spans.kind[id] == SpanKind::unfinished) continue;
    const std::uint64_t key =
        std::uint64_t{spans.name[id]} << 8 | static_cast<unsigned>(spans.kind[id]);
    const auto [at, is_new] = index.try_emplace(key, found.size());
    if (is_new) found.push_back({spans.name[id], spans.kind[id], {}, 0});
    found[at->second].durations.add(spans.duration_ns[id]);
    found[at->second].self_ns += self[id];
  }
  std::sort(found.begin(), found.end(), [&](const Operation& a, const Operation& b) {
    if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
    if (a.name != b.name) return trace.names.view(a.name) < trace.names.view(b.name);
    return a.kind < b.kind;
  });
  return found;
}

std::vector<Bottleneck> bottlenecks(const std::vector<Operation>& operations, std::size_t top) {
  const bool kinds_are_known = std::any_of(operations.begin(), operations.end(),
                                           [](const auto& o) { return o.kind != SpanKind::other; });
  double whole = 0;
  for (const Operation& operation : operations) {
    if (competes(operation, kinds_are_known)) whole += static_cast<double>(operation.self_ns);
  }
  std::vector<Bottleneck> found;
  double cumulative = 0;
  for (std::size_t i = 0; i < operations.size() && found.size() < top; ++i) {
    if (!competes(operations[i], kinds_are_known) || operations[i].self_ns <= 0) continue;
    const double share = static_cast<double>(operations[i].self_ns) / whole * 100;
    cumulative += share;
    found.push_back({i, part_of(operations[i].kind), share, cumulative});
  }
  return found;
}

}  // namespace fathom::analyze
