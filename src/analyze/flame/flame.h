#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "trace/trace.h"

namespace fathom::analyze {

using FlameNodeId = std::uint32_t;

// What the width of a node stands for.
enum class FlameWeight : std::uint8_t { cpu, gpu, count };

// A call path: what its calls took themselves, and with everything below them.
struct FlameNode {
  base::StringId name = 0;  // of FlameTree::names
  trace::SpanKind kind = trace::SpanKind::other;
  bool is_root = false;       // a thread, or the GPU work without a launch: no call itself
  FlameNodeId parent = 0;     // the whole (node 0) is its own parent
  std::int64_t first_ns = 0;  // when it was first seen
  std::uint64_t calls = 0;    // spans that are this path
  std::int64_t cpu_self_ns = 0;
  std::int64_t gpu_self_ns = 0;
  std::int64_t count_self = 0;
  std::int64_t cpu_ns = 0;  // itself and all below it: Σ self over the subtree, exactly
  std::int64_t gpu_ns = 0;
  std::int64_t count = 0;

  std::int64_t self(FlameWeight weight) const {
    return weight == FlameWeight::cpu   ? cpu_self_ns
           : weight == FlameWeight::gpu ? gpu_self_ns
                                        : count_self;
  }
  std::int64_t total(FlameWeight weight) const {
    return weight == FlameWeight::cpu ? cpu_ns : weight == FlameWeight::gpu ? gpu_ns : count;
  }
};

struct FlameOptions {
  // Paths that took less than this of both CPU and GPU time are not shown on their own: what they
  // took counts as their parent's own. Likewise what lies deeper than max_depth.
  std::int64_t min_duration_ns = 10'000;
  std::uint32_t max_depth = 50;  // calls, not counting the thread
  // Kernels of one parent that take less than 10 µs a call become one node, "small kernels".
  bool group_small_kernels = false;
};

// Calls of the same path are one node. Parents stand before their children.
struct FlameTree {
  base::StringPool names;
  std::vector<FlameNode> nodes;  // [0] is the whole

  std::string_view name(FlameNodeId id) const { return names.view(nodes[id].name); }
};

// The call tree of a trace. Below the whole stand the threads, below them what the host did, nested
// as it ran, and under each launch the GPU work it launched. GPU work without a launch in the trace
// has a root of its own. PyTorch's numbered steps are one path.
//
// CPU time of a span is its wall time; where spans of one thread overlap partly, an instant belongs
// to the one that began first, so that a thread's time is never counted twice and children never
// take more than their parent. GPU time of a kernel, copy or fill is its duration. Count is the
// number of spans. So the whole takes: of CPU, what threads were busy; of GPU, the sum of all GPU
// work; of count, the host spans and GPU work. Linear in the trace.
FlameTree flame_tree(const trace::Trace& trace, const FlameOptions& options = {});

// Children of every node, most `weight` first; ties by name.
std::vector<std::vector<FlameNodeId>> children_by_weight(const FlameTree& tree, FlameWeight weight);

}  // namespace fathom::analyze
