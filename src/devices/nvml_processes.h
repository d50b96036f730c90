#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "devices/described_processes.h"
#include "devices/nvml_library.h"

namespace fathom::devices::nvml {

// The programs on one device, looked for again and again.
class ProcessList {
 public:
  std::vector<GpuProcess> look(const Library& library, Device device, const Roots& roots);

 private:
  void add_utilization(const Library& library, Device device,
                       std::map<std::int64_t, GpuProcess>& processes);

  DescribedProcesses described_;
  std::uint64_t sampled_until_us_ = 0;
};

}  // namespace fathom::devices::nvml
