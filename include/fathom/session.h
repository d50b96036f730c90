#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fathom/export.h"
#include "fathom/results.h"

namespace fathom {

// All launches of one kernel.
struct KernelSummary {
  std::string name;
  std::uint64_t calls = 0;
  double total_time_ms = 0;
  double mean_time_ms = 0;
  double min_time_ms = 0;
  double max_time_ms = 0;
  std::string global_size;  // of its launches, "1024x1024"; "several" where they differ; empty
                            // where it is not known
  std::string local_size;   // the same; empty, too, where the driver chose
};

// A stretch between two pieces of work in which no GPU did anything.
struct IdleGap {
  double start_ms = 0;  // after the beginning of the run
  double duration_ms = 0;
  std::string host;       // what took most of it on the host; empty where nothing was recorded
  double host_share = 0;  // of the gap, 0 to 1
};

// Making a program for the GPU: compiled, linked, or loaded.
struct ProgramBuild {
  std::string call;
  double start_ms = 0;
  double duration_ms = 0;
};

// Device memory that was not freed when the run ended.
struct MemoryLeak {
  std::string scope;  // innermost around the allocation; empty where there was none
  std::string call;   // that allocated it
  double mb = 0;
  std::uint64_t blocks = 0;
};

// A call path of the flame graph: all calls of one name below the same path.
struct FlameFrame {
  std::string name;
  std::size_t parent = 0;  // its place in the list; the whole, [0], is its own parent
  std::uint64_t calls = 0;
  double cpu_time_ms = 0;  // wall time of the calls, with everything below them
  double gpu_time_ms = 0;  // of the work launched there and below
};

// What a program's run, or a function called many times, did. What was not measured is absent.
struct ProfileSession {
  std::string name;  // the command, or the function
  double total_time_ms = 0;
  // Every instant belongs to the first that holds: a kernel runs (gpu), a copy runs (transfer), a
  // thread is inside the GPU runtime (overhead), none of these (cpu). They add up to the total.
  std::optional<double> gpu_time_ms;
  std::optional<double> transfer_time_ms;
  std::optional<double> overhead_ms;
  std::optional<double> cpu_time_ms;

  std::optional<double> peak_memory_mb;       // on the device that needed the most
  std::optional<double> allocated_memory_mb;  // on all devices, at the end
  std::optional<double> reserved_memory_mb;   // by an allocator that keeps some, at the most
  std::optional<double> peak_host_memory_mb;
  std::vector<MemoryLeak> leaks;  // most bytes first

  std::uint64_t copies = 0;
  std::optional<double> copied_mb;
  std::vector<KernelSummary> kernels;  // longest in total first
  Summaries scopes;
  std::vector<Entry> entries;  // of profile_function: each measured call
  std::vector<Bottleneck> bottlenecks;
  std::vector<ProgramBuild> builds;  // longest first, the longest few
  double total_build_ms = 0;         // of all of them
  std::vector<IdleGap> idle_gaps;    // longest first, the longest few
  std::vector<std::string> recommendations;
  std::string trace_path;  // empty where none was recorded
  // Parents before their children, heaviest first. Paths under a thousandth of the whole count as
  // their parent's own; `fathom flame` has them all. Empty where no trace was recorded.
  std::vector<FlameFrame> flame_graph_data;
};

struct KernelComparison {
  std::string name;
  std::optional<double> before_ms;  // in total; absent in the session that has none of it
  std::optional<double> after_ms;
  std::optional<double> speedup;  // of the mean of one launch
};

struct SessionComparison {
  std::optional<double> speedup;  // above 1: the second is faster
  struct {
    std::optional<double> peak_mb;  // above 0: the second needs more
  } memory_diff;
  std::vector<KernelComparison> kernels;  // the largest change of the total first
};

FATHOM_API SessionComparison compare_sessions(const ProfileSession& before,
                                              const ProfileSession& after);

}  // namespace fathom
