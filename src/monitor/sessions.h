#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/alerts.h"
#include "monitor/session_file.h"
#include "monitor/session_folder.h"
#include "monitor/session_lines.h"
#include "monitor/session_record.h"

namespace fathom::monitor {

// What is due every `interval`, by a clock that ticks about as often or more often.
class Pace {
 public:
  explicit Pace(std::int64_t interval_ns) : interval_ns_(interval_ns) {}
  std::int64_t interval_ns() const { return interval_ns_; }
  // Whether it is due now, or nearer to now than to the next tick.
  bool is_due(std::int64_t time_ns, std::int64_t tick_ns);

 private:
  std::int64_t interval_ns_;
  std::optional<std::int64_t> next_ns_;
};

// Throws base::Error where sessions cannot be kept there.
void make_session_folder(const std::string& folder);

// The sessions of a folder: those that run here, and those that ended or run elsewhere.
class Sessions {
 public:
  Sessions(const std::string& folder, std::size_t most)
      : folder_(std::make_unique<SessionFolder>(folder)), most_(most) {}

  // What may take long is to be asked of it before the monitor is locked.
  SessionFolder& folder() const { return *folder_; }

  // Throws base::Error where there is no room or no place for it.
  std::string start(const std::string& name, const std::string& description,
                    const MonitorConfig& config, bool has_own_config, std::int64_t time_ns,
                    std::uint64_t& next_alert_id);
  bool is_running(const std::string& id) const { return running_.contains(id); }
  std::vector<std::string> running() const;
  std::optional<std::string> find_running(const std::string& id_or_name) const;  // the newest

  // A snapshot that the monitor took at its own pace or on demand; each session takes what is due.
  // Sessions with limits of their own judge by them: what they raised or cleared is handed out.
  using TellAlert = std::function<void(const std::string& session, const Alert& alert)>;
  void take(const Snapshot& snapshot, std::int64_t tick_ns, const std::vector<DeviceError>& errors,
            const std::vector<Leak>& leaks, const AlertChanges& of_monitor, const TellAlert& tell);
  void track_inference(const std::string& id, const InferenceStats::Part& part,
                       std::int64_t time_ns);  // of one that runs
  void write_down(std::int64_t time_ns);       // what has waited for a second

  SessionReport stop(const std::string& id, std::int64_t time_ns);  // of one that runs
  std::optional<SessionReport> report_of_running(const std::string& id) const;
  // Where the file of any session of the folder is; throws base::Error where there is none.
  std::string path_of(const std::string& id) const;
  std::vector<MonitorSession> list() { return list(folder_->list()); }  // newest first
  std::vector<MonitorSession> list(const SessionFolder::Listing& in_folder);

  std::int64_t shortest_interval_ns() const;  // of those that run; the largest number for none
  std::string problem() const;                // of the first that cannot be written
  std::uint64_t started() const { return started_; }

 private:
  struct Running {
    SessionRecord record;
    SessionFile file;
    SampleLines lines;
    Pace pace;
    std::unique_ptr<AlertWatch> own_watch;
    InferenceStats::Part waiting;
    std::int64_t written_ns = 0;  // when inferences were written down last
  };
  void make_room();
  static void write_inference_of(Running& running, std::int64_t time_ns);

  std::unique_ptr<SessionFolder> folder_;
  std::size_t most_;
  std::map<std::string, Running> running_;
  std::map<std::string, MonitorSession> ended_;  // here, and perhaps not yet known to be in a list
  std::uint64_t started_ = 0;
};

}  // namespace fathom::monitor
