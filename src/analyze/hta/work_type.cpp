#include "analyze/hta/work_type.h"

#include <algorithm>
#include <cctype>

namespace fathom::analyze {
namespace {

// Anywhere in a name, in lower case. Names of library kernels carry their library, names of kernels
// of frameworks (vLLM, SGLang, TensorRT-LLM, symmetric memory of PyTorch) the collective.
constexpr std::array<std::string_view, 18> kExchanges = {
    "nccldevkernel", "::ep::",         "ncclkernel",
    "rccl",          "nvshmem",        "mscclpp",
    "msccl",         "deep_ep",        "deepep",
    "allreduce",     "all_reduce",     "all_gather",
    "allgather",     "reducescatter",  "all_to_all",
    "alltoall",      "reduce_scatter", "cross_device_reduce"};

// What stands before the operation in the names of libraries that write it there, as they write it.
constexpr std::array<std::string_view, 3> kBeforeOperation = {"ncclKernel_", "ncclDevKernel_",
                                                              "mscclKernel_"};

// A reduction among the threads of a warp or block has the name, but stays on its GPU.
constexpr std::array<std::string_view, 4> kWithinAGpu = {"warp", "block", "warp_", "block_"};

bool exchanges_data(const std::string& lower) {
  if (lower.starts_with("nccl") || lower.starts_with("hccl")) return true;
  return std::any_of(kExchanges.begin(), kExchanges.end(), [&](std::string_view word) {
    const std::size_t at = lower.find(word);
    if (at == std::string::npos) return false;
    const std::string_view before = std::string_view(lower).substr(0, at);
    return std::none_of(kWithinAGpu.begin(), kWithinAGpu.end(),
                        [&](std::string_view who) { return before.ends_with(who); });
  });
}

bool moves_memory(std::string_view name) {
  constexpr std::array<std::string_view, 6> kBegins = {
      "Memcpy", "Memset", "hipMemcpy", "hipMemset", "__amd_rocclr_copy", "__amd_rocclr_fill"};
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace

WorkType work_type(trace::SpanKind kind, std::string_view name) {
  if (kind != trace::SpanKind::kernel || moves_memory(name)) return WorkType::memory;
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return exchanges_data(lower) ? WorkType::communication : WorkType::compute;
}

std::string collective_operation(std::string_view kernel_name) {
  for (const std::string_view prefix : kBeforeOperation) {
    if (!kernel_name.starts_with(prefix)) continue;
    const std::string_view rest = kernel_name.substr(prefix.size());
    return std::string(rest.substr(0, rest.find_first_of("_(")));
  }
  if (kernel_name.starts_with("void ")) kernel_name.remove_prefix(5);
  return std::string(kernel_name.substr(0, kernel_name.find_first_of("(<")));
}

}  // namespace fathom::analyze
