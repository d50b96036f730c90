#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

// What is known of an operation, of one call of it, and of where time went: the same figures in
// the library, in files, analyses and reports. Nanoseconds and bytes inside; the names in
// milliseconds and megabytes are functions. What is not known is absent.
namespace fathom {

inline constexpr double kNsPerMs = 1e6;
inline constexpr double kBytesPerMb = 1024.0 * 1024.0;  // a megabyte is 1,048,576 bytes everywhere

template <typename Number>
constexpr double ms_of(Number ns) {
  return static_cast<double>(ns) / kNsPerMs;
}
template <typename Number>
constexpr double mb_of(Number bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}
template <typename Number>
constexpr std::optional<double> ms_of(const std::optional<Number>& ns) {
  return ns ? std::optional(ms_of(*ns)) : std::nullopt;
}
template <typename Number>
constexpr std::optional<double> mb_of(const std::optional<Number>& bytes) {
  return bytes ? std::optional(mb_of(*bytes)) : std::nullopt;
}

// What a stretch of wall time went to; the four add up to it, to the nanosecond. Every instant
// belongs to the first that holds: a kernel (or fill) runs → gpu; a copy runs → transfer; a thread
// is inside a call of the GPU runtime, waiting or not → overhead; none of these → cpu. Of a scope
// it is the work launched in it and the calls of its own thread; of a run all work and any thread.
struct TimeParts {
  std::int64_t gpu_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t overhead_ns = 0;
  std::int64_t cpu_ns = 0;

  TimeParts& operator+=(const TimeParts& other) {
    gpu_ns += other.gpu_ns;
    transfer_ns += other.transfer_ns;
    overhead_ns += other.overhead_ns;
    cpu_ns += other.cpu_ns;
    return *this;
  }
  bool operator==(const TimeParts&) const = default;
};

// The parts as far as they were measured. Of what is the CPU's alone by its own word, the CPU's
// part is known where the GPU's is not.
struct KnownParts {
  std::optional<std::int64_t> gpu_ns;
  std::optional<std::int64_t> transfer_ns;
  std::optional<std::int64_t> overhead_ns;
  std::optional<std::int64_t> cpu_ns;

  void set_parts(const TimeParts& parts) {
    gpu_ns = parts.gpu_ns;
    transfer_ns = parts.transfer_ns;
    overhead_ns = parts.overhead_ns;
    cpu_ns = parts.cpu_ns;
  }
  std::optional<double> gpu_time_ms() const { return ms_of(gpu_ns); }
  std::optional<double> transfer_time_ms() const { return ms_of(transfer_ns); }
  std::optional<double> overhead_ms() const { return ms_of(overhead_ns); }
  std::optional<double> cpu_time_ms() const { return ms_of(cpu_ns); }
};

// One call of an operation: one scope.
struct CallFigures : KnownParts {
  std::int64_t duration_ns = 0;
  std::optional<std::int64_t> memory_allocated_bytes;  // on the device, by it
  std::optional<std::int64_t> memory_peak_bytes;       // in use on the device while it ran
  std::optional<std::uint64_t> copied_bytes;

  double duration_ms() const { return ms_of(duration_ns); }
  std::optional<double> memory_allocated_mb() const { return mb_of(memory_allocated_bytes); }
  std::optional<double> memory_peak_mb() const { return mb_of(memory_peak_bytes); }
  // 0 to 1.
  std::optional<double> gpu_utilization() const {
    if (!gpu_ns || duration_ns <= 0) return {};
    return static_cast<double>(*gpu_ns) / static_cast<double>(duration_ns);
  }
  // Bytes per nanosecond are gigabytes (10^9 bytes) per second.
  std::optional<double> memory_bandwidth_gb_s() const {
    if (!copied_bytes || *copied_bytes == 0 || !transfer_ns || *transfer_ns <= 0) return {};
    return static_cast<double>(*copied_bytes) / static_cast<double>(*transfer_ns);
  }
};

// All calls of an operation. Times are real numbers: means and quantiles fall between nanoseconds,
// and other profilers write fractions.
struct OperationFigures {
  std::uint64_t calls = 0;
  std::optional<std::uint64_t> errors;  // ended by an exception
  std::optional<double> total_ns;       // wall time: a call inside another of the same adds nothing
  std::optional<double> nested_ns;      // of such calls; absent where there are none
  std::optional<double> self_ns;        // total less the scopes inside
  std::optional<double> min_ns;
  std::optional<double> max_ns;
  std::optional<double> std_dev_ns;  // of the calls as a whole, not of a sample of them
  std::optional<double> p50_ns;      // the quantiles are within 1 %
  std::optional<double> p95_ns;
  std::optional<double> p99_ns;
  std::optional<double> gpu_ns;
  std::optional<double> transfer_ns;
  std::optional<double> overhead_ns;
  std::optional<double> cpu_ns;
  std::optional<double> avg_memory_bytes;  // allocated by a call, on average
  std::optional<double> peak_memory_bytes;
  std::optional<double> avg_gpu_utilization;  // 0 to 1

  // Of all calls together; call it when the total is known.
  void set_parts(const TimeParts& parts) {
    gpu_ns = static_cast<double>(parts.gpu_ns);
    transfer_ns = static_cast<double>(parts.transfer_ns);
    overhead_ns = static_cast<double>(parts.overhead_ns);
    cpu_ns = static_cast<double>(parts.cpu_ns);
    if (total_ns && *total_ns > 0) avg_gpu_utilization = *gpu_ns / *total_ns;
  }

  std::optional<double> mean_ns() const {
    if (!total_ns || calls == 0) return {};
    return (*total_ns + nested_ns.value_or(0)) / static_cast<double>(calls);
  }

  std::uint64_t call_count() const { return calls; }
  std::optional<std::uint64_t> error_count() const { return errors; }
  std::optional<double> total_time_ms() const { return ms_of(total_ns); }
  std::optional<double> self_time_ms() const { return ms_of(self_ns); }
  std::optional<double> avg_time_ms() const { return ms_of(mean_ns()); }
  std::optional<double> min_time_ms() const { return ms_of(min_ns); }
  std::optional<double> max_time_ms() const { return ms_of(max_ns); }
  std::optional<double> std_dev_ms() const { return ms_of(std_dev_ns); }
  std::optional<double> p50_ms() const { return ms_of(p50_ns); }
  std::optional<double> p95_ms() const { return ms_of(p95_ns); }
  std::optional<double> p99_ms() const { return ms_of(p99_ns); }
  std::optional<double> total_gpu_time_ms() const { return ms_of(gpu_ns); }
  std::optional<double> total_cpu_time_ms() const { return ms_of(cpu_ns); }
  std::optional<double> total_transfer_time_ms() const { return ms_of(transfer_ns); }
  std::optional<double> total_overhead_ms() const { return ms_of(overhead_ns); }
  std::optional<double> avg_memory_mb() const { return mb_of(avg_memory_bytes); }
  std::optional<double> peak_memory_mb() const { return mb_of(peak_memory_bytes); }
};

// Where there are several in the order of their source.
struct NamedFigures : OperationFigures {
  std::string operation;
};

using Summaries = std::map<std::string, OperationFigures>;  // by operation

}  // namespace fathom
