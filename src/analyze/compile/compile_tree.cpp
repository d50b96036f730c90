#include "analyze/compile/compile_tree.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace fathom::analyze {
namespace {

using LineKey = std::tuple<std::string, std::int64_t, std::string>;

struct LineBranch {
  StackFrame frame;
  std::size_t parent = kNoTreeNode;
  std::map<LineKey, std::size_t> children;
  std::vector<CompilationRef> compilations;
  std::optional<std::int64_t> total_ns;
};

void sum_known(std::optional<std::int64_t>& sum, std::optional<std::int64_t> more) {
  if (more) sum = sum.value_or(0) + *more;
}

// Every frame a branch of its own; the first is the root, with what has no stack.
std::vector<LineBranch> line_branches(const std::vector<CompileLog>& logs) {
  std::vector<LineBranch> branches(1);
  for (std::size_t log = 0; log < logs.size(); ++log) {
    for (std::size_t i = 0; i < logs[log].compilations.size(); ++i) {
      const Compilation& one = logs[log].compilations[i];
      std::size_t at = 0;
      for (const StackFrame& frame : one.stack) {
        const auto [child, is_new] = branches[at].children.try_emplace(
            LineKey{frame.file, frame.line, frame.function}, branches.size());
        const std::size_t next = child->second;
        if (is_new) {
          LineBranch& branch = branches.emplace_back();
          branch.frame = frame;
          branch.parent = at;
        }
        at = next;
      }
      branches[at].compilations.push_back({log, i});
      sum_known(branches[at].total_ns, one.total_ns);
    }
  }
  // Parents were made before their children.
  for (std::size_t at = branches.size(); at-- > 1;) {
    sum_known(branches[branches[at].parent].total_ns, branches[at].total_ns);
  }
  return branches;
}

std::vector<std::size_t> branches_below(const std::vector<LineBranch>& branches, std::size_t at) {
  std::vector<std::size_t> children;
  for (const auto& [key, child] : branches[at].children) children.push_back(child);
  std::ranges::stable_sort(children, std::ranges::greater{}, [&](std::size_t child) {
    return branches[child].total_ns.value_or(-1);
  });
  return children;
}

}  // namespace

std::vector<CompileTreeNode> compile_tree(const std::vector<CompileLog>& logs) {
  const std::vector<LineBranch> branches = line_branches(logs);
  std::vector<CompileTreeNode> tree;
  struct Open {
    std::size_t branch, parent, depth;
  };
  std::vector<Open> open;  // the next at the back
  const auto open_children = [&](std::size_t branch, std::size_t parent, std::size_t depth) {
    const std::vector<std::size_t> children = branches_below(branches, branch);
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      open.push_back({*child, parent, depth});
    }
  };
  if (!branches[0].compilations.empty()) {
    CompileTreeNode& without_stack = tree.emplace_back();
    without_stack.compilations = branches[0].compilations;
    for (const CompilationRef& ref : without_stack.compilations) {
      sum_known(without_stack.total_ns, logs[ref.log].compilations[ref.index].total_ns);
    }
  }
  open_children(0, kNoTreeNode, 0);
  while (!open.empty()) {
    auto [branch, parent, depth] = open.back();
    open.pop_back();
    CompileTreeNode node;
    node.parent = parent;
    node.depth = depth;
    node.total_ns = branches[branch].total_ns;
    node.frames.push_back(branches[branch].frame);
    while (branches[branch].compilations.empty() && branches[branch].children.size() == 1) {
      branch = branches[branch].children.begin()->second;
      node.frames.push_back(branches[branch].frame);
    }
    node.compilations = branches[branch].compilations;
    tree.push_back(std::move(node));
    open_children(branch, tree.size() - 1, depth + 1);
  }
  return tree;
}

}  // namespace fathom::analyze
