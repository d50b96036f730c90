#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/hta/hta.h"

namespace fathom::analyze {

// What keeps GPUs from computing.
enum class Loss : std::uint8_t { host_wait, communication, other_idle, kernel_wait, copies };

// "host wait", and what it means: "the GPU waited for the host to launch work".
std::string_view name_of(Loss loss);
std::string_view meaning_of(Loss loss);

struct HtaBottleneck {
  Loss loss = Loss::host_wait;
  std::int64_t time_ns = 0;  // over all ranks
  double share_pct = 0;      // of the run, of all GPUs
};

// "the GPU waited for the host to launch work: 44.9 % (626.5 ms)"
std::string sentence(const HtaBottleneck& bottleneck);

// What all ranks say together. Shares are of the summed time of all GPUs.
struct HtaSummary {
  std::optional<Temporal> temporal;  // of HTA's window, summed; absent without GPU work
  IdleCauses idle;
  std::optional<Temporal> in_run;  // the same of the run (wall.h)
  std::int64_t host_late_ns = 0;   // of its idle time
  std::int64_t latency_ns = 0;
  std::optional<double> comm_comp_overlap_pct;
  std::vector<KernelStats> kernels;        // of all ranks together, most time first
  std::int64_t kernel_time_ns = 0;         // of all of them
  std::vector<ClassTime> classes;          // of all ranks together, most time first
  Efficiency efficiency;                   // of all ranks together
  std::vector<HtaBottleneck> bottlenecks;  // of 3 % of the run and more, largest first
};

HtaSummary summarize(const std::vector<RankFindings>& ranks);

// `part` as a share of `whole`; 0 where the whole is nothing.
double percent_of(std::int64_t part, std::int64_t whole);

}  // namespace fathom::analyze
