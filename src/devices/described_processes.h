#pragma once

#include <cstdint>
#include <map>

#include "devices/backend.h"

namespace fathom::devices {

// Names and commands of programs, read once per program instead of at each look.
class DescribedProcesses {
 public:
  // A pid that was given to another program since is read again.
  GpuProcess describe(const Roots& roots, std::int64_t pid);
  // After each look: forgets those that were not asked for in it.
  void end_look();

 private:
  std::map<std::int64_t, GpuProcess> of_last_look_;
  std::map<std::int64_t, GpuProcess> of_this_look_;
};

}  // namespace fathom::devices
