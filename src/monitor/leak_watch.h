#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fathom/gpu_device.h"

namespace fathom::monitor {

// Memory of a program that grows and grows.
struct Leak {
  std::string uuid;
  GpuProcess process;
  double bytes_per_minute = 0;        // Theil-Sen: the median of all slopes between two points
  double least_bytes_per_minute = 0;  // with 99 % confidence it grows at least so fast, and ...
  double most_bytes_per_minute = 0;   // ... at most so fast
  std::int64_t grown_bytes = 0;       // within the window
  double window_seconds = 0;
};

// A series of memory levels of one program, looked at over five minutes. It leaks when all hold:
//  - it rose from each minute to the next, and fell back by little on the way: a sawtooth does not;
//  - the trend is significant by Mann and Kendall's test, whose variance is enlarged where the
//    levels depend on those before them (Hamed and Rao), and steep: at least 1 MB per minute;
//  - three quarters of the rise are above all that it ever had before: what a program gave back, it
//    may take again. A sawtooth with long teeth is therefore reported once, and not at each tooth.
// Levels are the smallest of ten seconds each, so that what is allocated and freed within a step of
// the program does not count.
class LeakSeries {
 public:
  static constexpr double kWindowSeconds = 300;

  void add(std::int64_t time_ns, std::int64_t bytes);
  // As of the last full ten seconds; without the process and the device.
  std::optional<Leak> leak() const { return leak_; }
  std::int64_t last_time_ns() const { return last_time_ns_; }

 private:
  void close_bucket();
  void append(double level);
  void learn();
  std::optional<Leak> judge() const;

  std::int64_t first_bucket_ = 0;     // the number of levels_[0]; buckets have ten seconds each
  std::optional<std::int64_t> open_;  // the number of the bucket that is being filled
  std::int64_t smallest_ = 0;
  std::vector<double> levels_;
  std::optional<double> peak_before_;     // the highest level before the window, or to be expected
  std::optional<double> suspected_from_;  // where the last leak began, until it is given back
  double suspected_to_ = 0;
  std::int64_t last_time_ns_ = 0;
  std::optional<Leak> leak_;
};

// All programs on all devices.
class LeakWatch {
 public:
  void take(std::int64_t time_ns, const std::vector<GpuDevice>& devices);
  std::vector<Leak> leaks() const;

 private:
  using Key = std::tuple<std::string, std::int64_t, std::uint64_t>;  // uuid, pid, start
  struct Watched {
    LeakSeries series;
    GpuProcess process;
  };
  std::map<Key, Watched> watched_;
};

}  // namespace fathom::monitor
