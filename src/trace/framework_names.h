#pragma once

#include <string_view>

namespace fathom::trace {

// What names begin with that PyTorch gives to parts of a program.
inline constexpr std::string_view kStepName = "ProfilerStep#";  // "ProfilerStep#7", a numbered step
inline constexpr std::string_view kOptimizerStep = "Optimizer.step";  // "Optimizer.step#SGD.step"
// "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
inline constexpr std::string_view kDataLoader = "enumerate(DataLoader)";
// "autograd::engine::evaluate_function: MulBackward0"
inline constexpr std::string_view kBackwardNode = "autograd::engine::evaluate_function";

// "autograd::engine::evaluate_function: MulBackward0" → "MulBackward0"; other names as they are.
constexpr std::string_view without_engine(std::string_view name) {
  if (!name.starts_with(kBackwardNode)) return name;
  const std::string_view node = name.substr(kBackwardNode.size());
  return node.starts_with(": ") ? node.substr(2) : name;
}

}  // namespace fathom::trace
