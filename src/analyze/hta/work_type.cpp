#include "analyze/hta/work_type.h"

namespace fathom::analyze {
namespace {

// What stands before the operation in the names of libraries that write it there, as they write it.
constexpr std::array<std::string_view, 3> kBeforeOperation = {"ncclKernel_", "ncclDevKernel_",
                                                              "mscclKernel_"};

}  // namespace

WorkType work_type(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::copy:
    case KernelClass::fill:
      return WorkType::memory;
    case KernelClass::communication:
      return WorkType::communication;
    default:
      return WorkType::compute;
  }
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
