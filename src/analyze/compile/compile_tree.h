#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/compile/compile_log.h"

namespace fathom::analyze {

inline constexpr std::size_t kNoTreeNode = SIZE_MAX;

// A compilation, by its place in the logs.
struct CompilationRef {
  std::size_t log = 0;
  std::size_t index = 0;  // in the compilations of that log
};

// Lines of the user's program that lead to the same compilations: one frame, or several of which
// each has only the next below it.
struct CompileTreeNode {
  std::size_t parent = kNoTreeNode;
  std::size_t depth = 0;
  std::vector<StackFrame> frames;            // outermost first; none where no stack was logged
  std::vector<CompilationRef> compilations;  // that the innermost frame caused, in order
  std::optional<std::int64_t> total_ns;      // of these and of all nodes below
};

// Who made torch.compile compile what. Parents come before their children, children most time
// first.
std::vector<CompileTreeNode> compile_tree(const std::vector<CompileLog>& logs);

}  // namespace fathom::analyze
