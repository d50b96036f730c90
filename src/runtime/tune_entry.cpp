#include "runtime/tune_entry.h"

#include "runtime/compute_state.h"

void fathom_tune_this_machine(const fathom::runtime::TuneOptions& options) {
  fathom::runtime::RealClock clock;
  const auto devices = fathom::runtime::devices_of_this_machine(
      {.uses_cuda = options.uses_cuda, .uses_opencl = options.uses_opencl}, clock);
  fathom::runtime::tune(devices, clock, options);
}
