#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/classes/class_times.h"
#include "analyze/critical_path/critical_path.h"
#include "analyze/critical_path/dependencies.h"
#include "analyze/efficiency/efficiency.h"
#include "analyze/hta/annotations.h"
#include "analyze/hta/bandwidth.h"
#include "analyze/hta/breakdown.h"
#include "analyze/hta/gpu_work.h"
#include "analyze/hta/idle.h"
#include "analyze/hta/kernels.h"
#include "analyze/hta/launches.h"
#include "analyze/hta/queue.h"
#include "analyze/ranks/rank_run.h"
#include "analyze/run/gpu_shares.h"

namespace fathom::analyze {

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
  std::vector<ClassTime> classes;
  Efficiency efficiency;
  std::optional<double> comm_comp_overlap_pct;
  Launches launches;
  std::uint64_t unlinked_work = 0;  // pieces of work whose launch the trace does not have
  // Of the whole trace: launches that found the launch queue full, and how long they took, which is
  // the GPU's time and not the cost of launching (Dependencies::queue_waits).
  std::uint64_t blocked_launches = 0;
  std::int64_t blocked_launch_ns = 0;
  std::vector<QueueLength> queues;
  std::vector<Bandwidth> bandwidths;
  std::vector<Annotation> annotations;

  // The run as every command means it, all steps, and what this GPU did in it: `gpus` has one.
  // Absent without GPU work.
  std::optional<RunShares> in_run;

  // Of the whole rank, all steps, without its segments: one for all of its GPUs.
  std::shared_ptr<const CriticalPath> critical_path;

  RankRun run;  // what comparing ranks needs; empty unless asked for
};

struct HtaOptions {
  bool all_steps = false;   // the last one too
  bool many_ranks = false;  // keep what comparing ranks needs
};

// At least one: a trace without GPU work has findings that say so.
std::vector<RankFindings> holistic(const trace::Trace& trace, const std::string& source,
                                   const HtaOptions& options = {});

// The same of GPU work that is there already, without the run, efficiency and what dependencies
// tell.
std::vector<RankFindings> holistic(const trace::Trace& trace, const std::string& source,
                                   const GpuWork& work, std::uint64_t steps, bool many_ranks);
// What a GPU did in the run, parted as HTA's window is; absent without GPU work.
std::optional<Temporal> temporal_of_run(const RankFindings& rank);

void add_run_shares(std::vector<RankFindings>& ranks, const RunShares& run);
void add_efficiency(std::vector<RankFindings>& ranks, const GpuWork& work,
                    const std::vector<Efficiency>& used);
void add_critical_path(std::vector<RankFindings>& ranks, const CriticalPath& path);
void add_blocked_launches(std::vector<RankFindings>& ranks, const trace::Trace& trace,
                          const Dependencies& dependencies);

}  // namespace fathom::analyze
