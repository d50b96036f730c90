#include "monitor/sessions.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "monitor/config_fields.h"

namespace fathom::monitor {
namespace {

constexpr std::int64_t kWriteEveryNs = 1'000'000'000;
constexpr std::size_t kLongestText = 10'000;  // of a name or a description
constexpr int kMostAttempts = 1000;

// Metrics that the settings of a session leave out.
Snapshot as_configured(const Snapshot& snapshot, const MonitorConfig& config) {
  Snapshot kept = snapshot;
  for (GpuDevice& device : kept.devices) {
    GpuReading& now = device.now;
    if (!config.enable_thermal_monitoring) {
      now.temperature_celsius.reset();
      now.memory_temperature_celsius.reset();
      now.fan_percent.reset();
      now.fan_rpm.reset();
    }
    if (!config.enable_power_monitoring) {
      now.power_watts.reset();
      now.energy_joules.reset();
    }
    if (!config.enable_memory_tracking) {
      now.memory_used_bytes.reset();
      now.memory_free_bytes.reset();
      now.memory_reserved_bytes.reset();
    }
  }
  return kept;
}

}  // namespace

void make_session_folder(const std::string& folder) {
  constexpr const char* kHint = "Name another folder in output_dir";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw base::Error(folder, "cannot be created: " + failure.message(), kHint);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw base::Error(folder, std::string("cannot be written to: ") + std::strerror(errno), kHint);
}

bool Pace::is_due(std::int64_t time_ns, std::int64_t tick_ns) {
  if (!next_ns_ || time_ns < *next_ns_ - 2 * interval_ns_) next_ns_ = time_ns;  // clock set back
  if (time_ns < *next_ns_ - std::min(tick_ns, interval_ns_) / 2) return false;
  *next_ns_ = std::max(*next_ns_ + interval_ns_, time_ns);
  return true;
}

std::string Sessions::start(const std::string& name, const std::string& description,
                            const MonitorConfig& config, bool has_own_config, std::int64_t time_ns,
                            std::uint64_t& next_alert_id) {
  if (name.empty()) throw base::Error("session", "a session needs a name");
  if (name.size() > kLongestText || description.size() > kLongestText) {
    throw base::Error("session",
                      fmt::format("name and description may have at most {} bytes", kLongestText));
  }
  make_session_folder(folder_->path());
  make_room();
  MonitorSession session;
  session.name = name;
  session.description = description;
  session.started_ns = time_ns;
  session.config = config;
  const std::string base = fmt::format(
      "{:%Y%m%d-%H%M%S}", fmt::gmtime(static_cast<std::time_t>(time_ns / 1'000'000'000)));
  for (int attempt = 1;; ++attempt) {
    session.id = fmt::format("{}-{}", base, attempt);
    if (attempt < kMostAttempts && std::filesystem::exists(folder_->file_of(session.id))) continue;
    SessionFile file = SessionFile::create(folder_->file_of(session.id), start_line(session));
    auto watch = has_own_config ? std::make_unique<AlertWatch>(config, next_alert_id) : nullptr;
    running_.emplace(session.id, Running{SessionRecord(session),
                                         std::move(file),
                                         {},
                                         Pace(sampling_interval(config).count()),
                                         std::move(watch),
                                         {},
                                         time_ns});
    ++started_;
    return session.id;
  }
}

// The oldest that ended goes, with its report.
void Sessions::make_room() {
  std::vector<MonitorSession> all = list();
  while (all.size() >= most_) {
    const auto oldest = std::find_if(all.rbegin(), all.rend(), [](const MonitorSession& session) {
      return session.stopped_ns.has_value();
    });
    if (oldest == all.rend()) {
      throw base::Error("session",
                        fmt::format("{} sessions are running, which is the maximum", most_),
                        "Stop one, or raise max_profiling_sessions");
    }
    std::error_code failure;
    std::filesystem::remove(folder_->file_of(oldest->id), failure);
    if (failure) throw base::Error(folder_->path(), "cannot be written: " + failure.message());
    std::filesystem::remove(folder_->report_of(oldest->id), failure);
    ended_.erase(oldest->id);
    all.erase(std::next(oldest).base());
  }
}

std::vector<std::string> Sessions::running() const {
  std::vector<std::string> ids;
  for (const auto& [id, running] : running_) ids.push_back(id);
  return ids;
}

std::optional<std::string> Sessions::find_running(const std::string& id_or_name) const {
  if (running_.contains(id_or_name)) return id_or_name;
  std::optional<std::string> newest;
  for (const auto& [id, running] : running_) {
    if (running.record.session().name == id_or_name) newest = id;
  }
  return newest;
}

void Sessions::take(const Snapshot& snapshot, std::int64_t tick_ns,
                    const std::vector<DeviceError>& errors, const std::vector<Leak>& leaks,
                    const AlertChanges& of_monitor, const TellAlert& tell) {
  for (auto& [id, running] : running_) {
    AlertChanges own;
    if (running.own_watch) {
      own = running.own_watch->take(snapshot.time_ns, snapshot.devices, errors, leaks);
      for (const Alert& alert : own) tell(id, alert);
    }
    std::string lines;
    if (snapshot.trigger != "interval" || running.pace.is_due(snapshot.time_ns, tick_ns)) {
      const MonitorConfig& config = running.record.settings().config;
      const Snapshot kept = as_configured(snapshot, config);
      running.record.take(kept);
      lines = running.lines.lines(kept, config.mode == MonitorMode::comprehensive);
    }
    for (const Alert& alert : running.own_watch ? own : of_monitor) {
      running.record.take(alert);
      lines += alert_line(alert);
    }
    if (!lines.empty()) running.file.write(lines);
  }
}

void Sessions::track_inference(const std::string& id, const InferenceStats::Part& part,
                               std::int64_t time_ns) {
  Running& running = running_.at(id);
  running.record.take(part);
  InferenceStats::merge(running.waiting, part);
  if (time_ns - running.written_ns >= kWriteEveryNs) write_inference_of(running, time_ns);
}

void Sessions::write_inference_of(Running& running, std::int64_t time_ns) {
  running.written_ns = time_ns;
  if (running.waiting.count == 0) return;
  running.file.write(inference_line(running.waiting));
  running.waiting = {};
}

void Sessions::write_down(std::int64_t time_ns) {
  for (auto& [id, running] : running_) {
    if (time_ns - running.written_ns >= kWriteEveryNs / 2 || time_ns < running.written_ns) {
      write_inference_of(running, time_ns);
    }
  }
}

SessionReport Sessions::stop(const std::string& id, std::int64_t time_ns) {
  Running& running = running_.at(id);
  write_inference_of(running, time_ns);
  running.record.settings().stopped_ns = time_ns;
  running.file.write(end_line(running.record.session()));
  SessionReport report = running.record.report();
  ended_[id] = report.session;
  running_.erase(id);
  if (report.session.config.export_json_reports && write_report(folder_->report_of(id), report))
    report.json_path = folder_->report_of(id);
  return report;
}

std::optional<SessionReport> Sessions::report_of_running(const std::string& id) const {
  const auto found = running_.find(id);
  if (found == running_.end()) return {};
  return found->second.record.report();
}

std::string Sessions::path_of(const std::string& id) const {
  const std::string path = folder_->file_of(id);
  if (!SessionFolder::is_id(id) || !std::filesystem::exists(path)) {
    throw base::Error("session", "there is no session '" + id + "'");
  }
  return path;
}

// The list may have been made before some of those that are ours began or ended.
std::vector<MonitorSession> Sessions::list(const SessionFolder::Listing& in_folder) {
  std::vector<MonitorSession> all;
  for (const auto& [id, running] : running_) all.push_back(running.record.session());
  for (const auto& [id, session] : in_folder) {
    if (running_.contains(id)) continue;
    const auto ended = ended_.find(id);
    if (session.stopped_ns && ended != ended_.end()) ended_.erase(ended);
    all.push_back(!session.stopped_ns && ended != ended_.end() ? ended->second : session);
  }
  std::ranges::stable_sort(all, [](const MonitorSession& a, const MonitorSession& b) {
    return a.started_ns != b.started_ns ? a.started_ns > b.started_ns : a.id > b.id;
  });
  return all;
}

std::int64_t Sessions::shortest_interval_ns() const {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [id, running] : running_) {
    shortest = std::min(shortest, running.pace.interval_ns());
  }
  return shortest;
}

std::string Sessions::problem() const {
  for (const auto& [id, running] : running_) {
    if (!running.file.problem().empty()) return running.file.problem();
  }
  return {};
}

}  // namespace fathom::monitor
