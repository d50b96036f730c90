#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fathom/monitor.h"
#include "monitor/history.h"
#include "monitor/inference_stats.h"

namespace fathom::monitor {

// Of one metric.
struct Range {
  std::uint64_t count = 0;
  double sum = 0;
  double least = 0;
  double most = 0;

  void add(double value);
  double mean() const { return sum / static_cast<double>(count); }  // where count > 0
};

// What a session saw of one device.
struct DeviceFigures {
  GpuDevice identity;         // as it was seen last; without reading and processes
  std::vector<Range> ranges;  // by reading_fields()
  Range memory_percent;
  std::uint64_t looks = 0;                            // in which it answered
  std::uint64_t hot_looks = 0;                        // at or above the session's warning limit
  std::uint64_t full_looks = 0;                       // memory likewise
  std::array<std::uint64_t, 9> throttled_looks = {};  // by ThrottleReason, as they are declared

  const Range* range(std::string_view metric) const;  // null where it was never known
};

// A session as far as it went; the same whether it is running or read from its file. Its memory
// does not grow with its length.
class SessionRecord {
 public:
  explicit SessionRecord(MonitorSession session);

  void take(const Snapshot& snapshot);
  void take(const Alert& alert);  // one that was raised, or again once it is cleared
  void take(const InferenceStats::Part& inference);

  const std::map<std::string, DeviceFigures>& devices() const { return devices_; }
  MonitorSession session() const;  // with what was counted
  MonitorSession& settings() { return session_; }
  std::int64_t last_time_ns() const { return last_time_ns_; }
  SessionReport report() const;  // with suggestions

 private:
  MonitorSession session_;
  History history_;
  std::map<std::string, DeviceFigures> devices_;
  std::vector<Alert> alerts_;  // the last thousand
  InferenceStats inference_;
  std::int64_t last_time_ns_ = 0;
};

// What to do about what a session saw, the most telling first.
std::vector<MonitorSuggestion> session_suggestions(const SessionRecord& record);

}  // namespace fathom::monitor
