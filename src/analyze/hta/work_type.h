#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/kind.h"

namespace fathom::analyze {

// What a piece of GPU work is for.
//   memory         copies and fills, and the kernels by which a driver makes them (ROCm's blits)
//   communication  kernels that exchange data with other GPUs: NCCL, RCCL, HCCL, NVSHMEM,
//                  MSCCL(++), DeepEP, and the all-reduce kernels that frameworks bring themselves
//   compute        every other kernel
enum class WorkType : std::uint8_t { compute, communication, memory };

inline constexpr std::array<std::string_view, 3> kWorkTypeNames = {"compute", "communication",
                                                                   "memory"};

constexpr std::string_view name_of(WorkType type) {
  return kWorkTypeNames[static_cast<std::size_t>(type)];
}

// `kind` is one of GPU work.
WorkType work_type(trace::SpanKind kind, std::string_view name);

// What a kernel of communication does, by which it is matched across ranks:
// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)" → "AllReduce"; others to the first ( or <.
std::string collective_operation(std::string_view kernel_name);

}  // namespace fathom::analyze
