#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/kind.h"

namespace fathom::analyze {

// What kind of computation a piece of GPU work is, as somebody who optimizes it would group it.
// `other` is what no rule of kernel_class.cpp knows: kernels of one's own mostly.
enum class KernelClass : std::uint8_t {
  copy,
  fill,
  communication,
  attention,
  convolution,
  moe,
  gemm,
  softmax,
  norm,
  index,
  sort,
  rng,
  optimizer,
  quantize,
  rope_kv,
  layout,
  reduce,
  elementwise,
  other,
};

inline constexpr std::size_t kKernelClasses = 19;

// In JSON and on the command line: "rope_kv".
std::string_view name_of(KernelClass kernel_class);
std::optional<KernelClass> kernel_class_of(std::string_view name);

// For people: "RoPE, KV cache".
std::string_view label_of(KernelClass kernel_class);

// The class of GPU work of this kind and name that was launched within the operation `op`, which is
// empty where it is not known. The operation tells more than the kernel: cuDNN runs convolutions as
// "volta_sgemm_…". So, in this order:
//   1. copies, fills and communication, by kind and name
//   2. the operation, where it is one of a library ("aten::", "vllm::", …) that has a class
//   3. the kernel's name; of Inductor's kernels ("triton_red_fused_…") the operations in it
//   4. any other operation of PyTorch is pointwise
KernelClass kernel_class(trace::SpanKind kind, std::string_view kernel, std::string_view op = {});

// It only reads and writes its operands once, more or less: within the step of an optimizer
// (PyTorch's annotation "Optimizer.step#Adam.step") it is the optimizer's.
bool is_plain(KernelClass kernel_class);

}  // namespace fathom::analyze
