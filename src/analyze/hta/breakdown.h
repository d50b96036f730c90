#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/hta/gpu_work.h"

namespace fathom::analyze {

// How long each combination of types of work ran at the same time on one GPU, from the start of its
// first to the end of its last work. The index has a bit for each WorkType; 0 is idle. The times
// add up to the window.
struct BusyTimes {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::array<std::int64_t, 8> ns = {};

  std::int64_t total_ns() const { return end_ns - begin_ns; }
};

BusyTimes busy_times(const GpuWork& work, const DeviceWork& device);

// The time of a GPU, parted: every instant belongs to the first that holds: a compute kernel runs,
// a communication kernel runs, a copy or fill runs, nothing does. So communication and memory are
// what compute does not hide, and the four add up to the total.
struct Temporal {
  std::int64_t total_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t memory_ns = 0;

  std::int64_t non_compute_ns() const { return communication_ns + memory_ns; }
};

Temporal temporal(const BusyTimes& times);

// Time in which exactly these types ran: "compute", "compute overlapping communication", …
struct KernelTypeTime {
  std::string type;
  std::int64_t sum_ns = 0;
  double pct = 0;  // of the time in which anything ran
};

// Combinations that occur, most time first.
std::vector<KernelTypeTime> kernel_types(const BusyTimes& times);

// Share of the time with communication in which compute ran too. Absent without communication.
std::optional<double> comm_comp_overlap_pct(const BusyTimes& times);

}  // namespace fathom::analyze
