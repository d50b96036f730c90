#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/efficiency/collective_rates.h"
#include "analyze/efficiency/peaks.h"
#include "analyze/hta/gpu_work.h"
#include "analyze/operations/server.h"

namespace fathom::analyze {

// GPU work whose least FLOP and bytes are known (op_work.h), added up, and the time it took. The
// time is that of everything the operation launched. Floors are the time that the device would need
// at its peaks; absent where a peak that is needed is not known.
struct WorkRate {
  std::uint64_t count = 0;  // of operations
  std::int64_t time_ns = 0;
  double flop = 0;
  double bytes = 0;
  std::optional<double> flop_floor_ns;   // FLOP at the peak of the type that it computes in
  std::optional<double> bytes_floor_ns;  // bytes at the bandwidth of the memory
  std::optional<double> floor_ns;        // the larger of both, operation by operation

  double tflops() const { return time_ns > 0 ? flop / static_cast<double>(time_ns) / 1000 : 0; }
  double gb_s() const { return time_ns > 0 ? bytes / static_cast<double>(time_ns) : 0; }
  std::optional<double> peak_pct() const { return share(flop_floor_ns); }
  std::optional<double> bandwidth_pct() const { return share(bytes_floor_ns); }
  // Of the time, what it would have taken at least: 100 % is as fast as the device can be. More is
  // possible where data was in caches.
  std::optional<double> efficiency_pct() const { return share(floor_ns); }
  // The memory limits it, not arithmetic: its floor is the higher.
  bool is_memory_bound() const {
    return !flop_floor_ns || bytes_floor_ns.value_or(0) >= *flop_floor_ns;
  }

  void add(const WorkRate& other);

 private:
  std::optional<double> share(const std::optional<double>& ns) const {
    if (!ns || time_ns <= 0) return std::nullopt;
    return *ns / static_cast<double>(time_ns) * 100;
  }
};

// One operation with one set of shapes and types, run by one kernel.
struct ShapedWork {
  std::string op;
  std::string shapes;  // "8944x1024, 1024x2816"
  std::string kernel;  // the longest that it launched
  KernelClass kernel_class = KernelClass::other;
  std::optional<Arithmetic> arithmetic;  // of matrix work
  WorkRate rate;
  std::int64_t kernel_ns = 0;  // of its time, in that kernel
};

// What is known of all work of one name: of a kernel, or of an operation.
struct NameFigures {
  std::optional<WorkRate> rate;
  // Of a kernel, as the profiler estimated it: the sum over time of its percentage, and that time.
  double occupancy_pct_ns = 0;
  double occupancy_ns = 0;
  std::optional<bool> on_tensor_cores;  // of a kernel of matrix work

  std::optional<double> occupancy_pct() const {
    if (occupancy_ns <= 0) return std::nullopt;
    return occupancy_pct_ns / occupancy_ns;
  }
  void add(const NameFigures& other);
};

// All work of one class, and the part of it whose FLOP and bytes are known.
struct ClassUse {
  std::int64_t time_ns = 0;
  std::int64_t fp32_ns = 0;   // of the known part, matrix work off the tensor cores
  std::int64_t graph_ns = 0;  // launched by captured graphs, which record no shapes
  WorkRate known;

  // Where at least half of the time is known: less says little of the class.
  const WorkRate* rate() const {
    return known.count > 0 && 2 * known.time_ns >= time_ns ? &known : nullptr;
  }
  void add(const ClassUse& other);
};

// How much of a step was the matrix work at its peak.
struct StepUse {
  std::string name;
  // From its first work on the GPU to that of the next step; of the first from its start on the
  // host, of the last to the later of its ends. So they add up to the time of all steps.
  std::int64_t time_ns = 0;
  double flop = 0;      // of matrix work
  double floor_ns = 0;  // at its peak

  double mfu_pct() const { return floor_ns / static_cast<double>(time_ns) * 100; }
};

// How well one GPU was used, or several (`join`).
struct Efficiency {
  std::string device_name;
  DevicePeaks peaks;
  bool has_shapes = false;         // the trace has shapes of operations
  bool could_have_shapes = false;  // it is one of PyTorch, which records them when asked to
  Server server = Server::none;    // that is to be asked, where it could have shapes

  std::vector<ShapedWork> work;  // most time first
  std::map<std::string, NameFigures, std::less<>> by_name;
  std::array<ClassUse, kKernelClasses> by_class;
  std::vector<StepUse> steps;  // empty where peaks or shapes are not known
  std::vector<CollectiveRate> collectives;

  std::int64_t matrix_ns = 0;        // of matrix products, convolutions, attention
  std::int64_t known_matrix_ns = 0;  // of these, what has known FLOP
  std::int64_t told_matrix_ns = 0;   // what has kernels that tell whether they use tensor cores
  std::int64_t tensor_core_ns = 0;   // and do
  double used_floor_ns = 0;          // matrix work at its peak, over used_ns
  std::int64_t used_ns = 0;          // all steps, else from the first to the last work

  // Model FLOP utilization: FLOP of matrix products, convolutions and attention at their peaks, as
  // a share of the time; what is computed twice counts twice. Absent where peaks or shapes of half
  // of that work are.
  std::optional<double> mfu_pct() const;
  std::optional<double> known_matrix_pct() const;  // below 100, MFU is a lower bound
  std::optional<double> tensor_core_pct() const;

  const NameFigures* of(std::string_view name) const;
  const ClassUse& of(KernelClass kernel_class) const {
    return by_class[static_cast<std::size_t>(kernel_class)];
  }
};

// Of each GPU of the work, in order. `given` peaks go before those that are known of the device;
// `steps` are the host's.
std::vector<Efficiency> efficiencies(const trace::Trace& trace, const GpuWork& work,
                                     const std::vector<trace::SpanId>& steps,
                                     const DevicePeaks& given = {});

// All of them as one: of one kind of GPU, whose name and peaks it has. Steps are kept of one alone.
Efficiency join(const std::vector<Efficiency>& gpus);

}  // namespace fathom::analyze
