#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/classes/kernel_class.h"

namespace fathom::analyze {

// What a piece of GPU work is for; its class (classes/kernel_class.h) says more.
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

WorkType work_type(KernelClass kernel_class);

// What a kernel of communication does, by which it is matched across ranks:
// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)" → "AllReduce"; others to the first ( or <.
std::string collective_operation(std::string_view kernel_name);

}  // namespace fathom::analyze
