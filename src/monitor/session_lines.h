#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/history.h"
#include "monitor/inference_stats.h"
#include "monitor/session_record.h"

// A session in its file: one JSON object per line, each of which stands for itself, so that a file
// that is cut off or damaged in places gives all its other lines. docs/monitoring.md lists them.
namespace fathom::monitor {

std::string start_line(const MonitorSession& session);
std::string alert_line(const Alert& alert);
std::string inference_line(const InferenceStats::Part& part);
// Ends a session; what is in the list of sessions is in it, so that the rest need not be read.
std::string end_line(const MonitorSession& session);

// Lines of samples. Devices are described when they are first seen.
class SampleLines {
 public:
  std::string lines(const Snapshot& snapshot, bool with_processes);

 private:
  DeviceTable table_;
  std::size_t described_ = 0;
};

// The other way round: what the lines of a file say, one at a time.
class LineReader {
 public:
  // False where the line says nothing that can be used.
  bool take(std::string_view line);

  std::optional<SessionRecord> record;  // once there was a first line, or a sample without one
  bool has_end = false;
  // For a file whose first line is lost.
  std::string id_if_unknown;

 private:
  bool take_start(std::string_view object);
  bool take_device(std::string_view object);
  bool take_sample(std::string_view line);
  bool take_alert(std::string_view object);
  bool take_inference(std::string_view object);
  bool take_end(std::string_view object);
  SessionRecord& ready(std::int64_t time_ns);

  std::vector<std::size_t> fields_;                // places in reading_fields(), as written
  std::vector<std::optional<GpuDevice>> devices_;  // by their numbers in the file
};

// The first line and the last, for the list of sessions; nothing where they are not whole.
std::optional<MonitorSession> read_start(std::string_view line);
bool read_end(std::string_view line, MonitorSession& into);

}  // namespace fathom::monitor
