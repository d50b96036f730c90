#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/hta/gpu_work.h"
#include "trace/trace.h"

namespace fathom::analyze {

// One communication kernel of a rank. Times are Unix time where the source has it, else its clock.
struct Collective {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> launched_ns;  // start of the call
  std::int64_t computed_ns = 0;  // how long compute kernels had run by its start, since the begin
  std::uint32_t key = 0;         // index into RankRun::keys
};

// What tells collectives apart that can never be the same.
struct CollectiveKey {
  std::string operation;                 // "AllReduce": from the kernel's arguments, or its name
  std::string group;                     // the process group's name; empty where not known
  std::optional<std::int64_t> elements;  // of its input, where known

  bool operator==(const CollectiveKey&) const = default;
};

struct RankStep {
  std::string name;
  std::int64_t duration_ns = 0;
};

// What is kept of one GPU of one rank to compare it with others when its trace is gone: about 48
// bytes a collective.
struct RankRun {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> device;
  std::int64_t compute_ns = 0;  // time in which any compute kernel ran
  std::int64_t communication_ns = 0;
  std::int64_t memory_ns = 0;
  std::vector<CollectiveKey> keys;
  std::vector<Collective> collectives;  // by start
  std::vector<RankStep> steps;
};

// One a GPU that did any work, as `gpu` has them.
std::vector<RankRun> rank_runs(const trace::Trace& trace, const GpuWork& gpu);
std::vector<RankRun> rank_runs(const trace::Trace& trace);

}  // namespace fathom::analyze
