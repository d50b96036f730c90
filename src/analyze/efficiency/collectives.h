#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What a collective does with the data. `other` where nothing tells: the names of some kernels
// ("ncclDevKernel_Generic", "ncclKernel_SendRecv") do not.
enum class Exchange : std::uint8_t {
  other,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
};

// As people call it: "all-reduce"; "exchange" for `other`.
std::string_view name_of(Exchange exchange);

// "allreduce", "nccl:_all_gather_base", "ncclKernel_AllReduce_RING_LL_Sum_float": what it is.
Exchange exchange_of(std::string_view name);

// What bytes over time are multiplied by to compare an exchange of n ranks with the bandwidth of a
// link in one direction, as nccl-tests does.
double bus_factor(Exchange exchange, std::int64_t ranks);

// A piece of communication on a GPU.
struct CollectiveWork {
  std::uint32_t row = 0;  // of GpuWork::rows
  Exchange exchange = Exchange::other;
  std::string name;                   // as the source says it: "allreduce"; empty where it does not
  std::optional<std::int64_t> bytes;  // the larger of what goes in and what comes out
  std::optional<std::int64_t> ranks;  // that take part
  std::int64_t alone_ns = 0;          // with no other work of its GPU beside it
};

// Those of each GPU, as `gpu` has the GPUs, by start. What they do and how much they move is in the
// arguments of the kernel, else in the annotation and the operation around its launch, else in its
// name.
std::vector<std::vector<CollectiveWork>> collectives_by_device(const trace::Trace& trace,
                                                               const GpuWork& gpu);
// All of them, one GPU after the other.
std::vector<CollectiveWork> collectives_of(const trace::Trace& trace, const GpuWork& gpu);

}  // namespace fathom::analyze
