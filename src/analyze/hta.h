#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/annotations.h"
#include "analyze/bandwidth.h"
#include "analyze/breakdown.h"
#include "analyze/critical_path.h"
#include "analyze/idle.h"
#include "analyze/kernels.h"
#include "analyze/launches.h"
#include "analyze/queue.h"

namespace fathom::analyze {

// What bounds the wall time of a rank (critical_path.h), without the path itself.
struct PathStepBound {
  std::string name;
  BoundTimes bound_by = {};  // ns; adds up to the step's duration
};

struct PathBound {
  std::int64_t total_ns = 0;
  BoundTimes bound_by = {};  // ns; adds up to the total
  std::vector<PathStepBound> steps;
};

// What the holistic analysis finds of one GPU of one rank; a rank with several GPUs gives several.
// It holds nothing of the trace, so that ranks can be read one after another.
struct RankFindings {
  std::string source;  // the file
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> device;  // as the source numbers it
  std::string device_name;             // empty where unknown
  std::uint64_t steps = 0;             // in the trace
  bool leaves_out_last_step = false;

  std::optional<Temporal> temporal;  // absent without GPU work, and so is all below
  BusyTimes times;
  IdleCauses idle;  // of the whole GPU
  std::vector<StreamIdle> idle_streams;
  std::vector<KernelTypeTime> kernel_types;
  std::vector<KernelStats> kernels;
  std::optional<double> comm_comp_overlap_pct;
  Launches launches;
  std::uint64_t unlinked_work = 0;  // pieces of work whose launch the trace does not have
  std::vector<QueueLength> queues;
  std::vector<Bandwidth> bandwidths;
  std::vector<Annotation> annotations;
  std::optional<PathBound> critical_path;  // of the whole rank and trace; absent without spans
};

struct HtaOptions {
  bool all_steps = false;  // the last one too
};

// At least one: a trace without GPU work has findings that say so.
std::vector<RankFindings> holistic(const trace::Trace& trace, const std::string& source,
                                   const HtaOptions& options = {});

}  // namespace fathom::analyze
