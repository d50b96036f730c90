#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/flame/flame.h"
#include "compare/comparison.h"

namespace fathom::compare {

// What a call path took itself, without what is below it.
struct FlameTimes {
  double cpu_ns = 0;
  double gpu_ns = 0;
};

struct FlameChangeNode {
  std::uint32_t name = 0;    // index of FlameChange::names
  std::uint32_t parent = 0;  // the whole (node 0) is its own parent
  trace::SpanKind kind = trace::SpanKind::other;
  FlameTimes base;
  FlameTimes current;
};

// The flame trees of both sides as one: a call path that both have is one node. Threads are left
// out, for theirs are other numbers in every run. Parents stand before their children.
struct FlameChange {
  std::vector<std::string> names;
  std::vector<FlameChangeNode> nodes;
};

enum class Side : std::uint8_t { base, current };

// Takes in the tree of one run after another.
class FlameChangeBuilder {
 public:
  FlameChangeBuilder();
  void add(const analyze::FlameTree& tree, Side side);

  // As times of a run or a step, as the comparison has it. Paths that take less than 1/2000 of the
  // whole on both sides count as their parent's own.
  FlameChange finish(const Comparison& comparison) &&;

 private:
  std::uint32_t child(std::uint32_t parent, std::string_view name, trace::SpanKind kind);
  std::uint32_t name_of(const std::string& name);
  void fold_small();

  FlameChange all_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> children_;  // parent, name → nodes
};

}  // namespace fathom::compare
