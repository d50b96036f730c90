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
struct KernelSummary : OperationFigures {
  std::string name;
  std::string global_size;  // of its launches, "1024x1024"; "several" where they differ; empty
                            // where it is not known
  std::string local_size;   // the same; empty, too, where the driver chose

  std::optional<double> mean_time_ms() const { return avg_time_ms(); }
};

// A stretch of the run in which no GPU did anything.
struct IdleGap {
  std::int64_t start_ns = 0;  // after the beginning of the run
  std::int64_t duration_ns = 0;
  std::string host;       // what took most of it on the host; empty where less than half of it lies
                          // in anything that was recorded there
  double host_share = 0;  // of the gap, 0 to 1

  double start_ms() const { return ms_of(start_ns); }
  double duration_ms() const { return ms_of(duration_ns); }
};

// Making a program for the GPU: compiled, linked, or loaded.
struct ProgramBuild {
  std::string call;
  std::int64_t start_ns = 0;  // after the beginning of the run
  std::int64_t duration_ns = 0;

  double start_ms() const { return ms_of(start_ns); }
  double duration_ms() const { return ms_of(duration_ns); }
};

// A build that failed, and what the compiler said of it.
struct FailedBuild {
  std::string call;
  std::int64_t start_ns = 0;  // after the beginning of the run
  std::int64_t error = 0;     // as the runtime numbers it
  std::string log;            // empty where the recorder was told nothing

  double start_ms() const { return ms_of(start_ns); }
};

// Calls of the GPU runtime, or commands, that failed the same way.
struct FailedCall {
  std::string call;
  std::int64_t error = 0;  // as the runtime numbers it
  std::uint64_t calls = 0;
};

// A call path of the flame graph: all calls of one name below the same path.
struct FlameFrame {
  std::string name;
  std::size_t parent = 0;  // its place in the list; the whole, [0], is its own parent
  std::uint64_t calls = 0;
  std::int64_t cpu_ns = 0;  // wall time of the calls, with everything below them
  std::int64_t gpu_ns = 0;  // of the work launched there and below

  double cpu_time_ms() const { return ms_of(cpu_ns); }
  double gpu_time_ms() const { return ms_of(gpu_ns); }
};

// What a program's run, or a function called many times, did: its time in parts, by the rule of
// TimeParts, and more. What was not measured is absent.
struct ProfileSession : KnownParts {
  std::string name;  // the command, or the function
  std::int64_t total_ns = 0;

  std::optional<std::int64_t> peak_memory_bytes;       // on the device that needed the most
  std::optional<std::int64_t> allocated_memory_bytes;  // on all devices, at the end
  std::optional<std::int64_t> reserved_memory_bytes;   // by an allocator that keeps some, at most
  std::optional<std::int64_t> peak_host_memory_bytes;
  std::vector<MemoryUse> leaks;  // device memory not freed when the run ended, most bytes first

  std::uint64_t copies = 0;
  std::optional<std::int64_t> copied_bytes;
  std::vector<KernelSummary> kernels;  // longest in total first
  Summaries scopes;
  std::vector<Entry> entries;  // of profile_function: each measured call
  std::vector<Bottleneck> bottlenecks;
  std::vector<ProgramBuild> builds;        // longest first, the longest few
  std::int64_t total_build_ns = 0;         // of all of them, what is at the same time counted once
  std::vector<FailedBuild> failed_builds;  // the first few
  std::vector<FailedCall> failed_calls;    // other than builds, most calls first
  std::vector<IdleGap> idle_gaps;          // longest first, the longest few
  std::vector<std::string> recommendations;
  std::string trace_path;  // empty where none was recorded
  // Parents before their children, heaviest first. Paths under a thousandth of the whole count as
  // their parent's own; `fathom flame` has them all. Empty where no trace was recorded.
  std::vector<FlameFrame> flame_graph_data;

  // How often the function was measured; of a program, once.
  std::size_t iterations() const { return entries.empty() ? 1 : entries.size(); }
  double total_time_ms() const { return ms_of(total_ns); }
  std::optional<double> cuda_time_ms() const { return gpu_time_ms(); }
  std::optional<double> peak_memory_mb() const { return mb_of(peak_memory_bytes); }
  std::optional<double> allocated_memory_mb() const { return mb_of(allocated_memory_bytes); }
  std::optional<double> reserved_memory_mb() const { return mb_of(reserved_memory_bytes); }
  std::optional<double> peak_host_memory_mb() const { return mb_of(peak_host_memory_bytes); }
  std::optional<double> copied_mb() const { return mb_of(copied_bytes); }
  double total_build_ms() const { return ms_of(total_build_ns); }
};

struct KernelComparison {
  std::string name;
  std::optional<double> before_ms;  // per iteration; absent in the session that has none of it
  std::optional<double> after_ms;
  std::optional<double> speedup;  // of the mean of one launch
};

// Times are those of one iteration, so that sessions of different lengths can be compared.
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
