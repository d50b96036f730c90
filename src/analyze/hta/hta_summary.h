#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/hta/hta.h"

namespace fathom::analyze {

// One of the things that keep the GPUs from computing.
struct HtaBottleneck {
  std::string what;          // "host wait", "communication", …
  std::int64_t time_ns = 0;  // over all ranks
  double share_pct = 0;      // of the time of all GPUs
  std::string text;          // a sentence
};

// What all ranks say together. Shares are of the summed time of all GPUs.
struct HtaSummary {
  std::optional<Temporal> temporal;  // summed; absent without GPU work
  IdleCauses idle;
  std::optional<double> comm_comp_overlap_pct;
  std::vector<KernelStats> kernels;        // of all ranks together, most time first
  std::int64_t kernel_time_ns = 0;         // of all of them
  std::vector<HtaBottleneck> bottlenecks;  // of 3 % and more, largest first
};

HtaSummary summarize(const std::vector<RankFindings>& ranks);

// `part` as a share of `whole`; 0 where the whole is nothing.
double percent_of(std::int64_t part, std::int64_t whole);

}  // namespace fathom::analyze
