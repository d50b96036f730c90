#include "devices/described_processes.h"

#include <utility>

#include "devices/kernel_files.h"

namespace fathom::devices {

GpuProcess DescribedProcesses::describe(const Roots& roots, std::int64_t pid) {
  if (const auto known = of_this_look_.find(pid); known != of_this_look_.end()) {
    return known->second;
  }
  const auto known = of_last_look_.find(pid);
  const bool is_the_same =
      known != of_last_look_.end() && start_ticks(roots, pid) == known->second.start_ticks;
  GpuProcess process = is_the_same ? known->second : describe_process(roots, pid);
  of_this_look_.emplace(pid, process);
  return process;
}

void DescribedProcesses::end_look() {
  of_last_look_ = std::exchange(of_this_look_, {});
}

}  // namespace fathom::devices
