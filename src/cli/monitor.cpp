#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/monitor_screen.h"
#include "cli/monitor_settings.h"
#include "devices/device_json.h"
#include "fathom/monitor.h"
#include "monitor/config_fields.h"
#include "monitor/monitor_json.h"
#include "monitor/redact.h"
#include "record/launch/device_trace.h"
#include "report/json/document.h"

namespace fathom::cli {
namespace {

constexpr const char* kMonitorNotes = R"(
Examples:
  fathom monitor                         what the GPUs do now; ? shows the keys
  fathom monitor --demo                  the same with two simulated GPUs
  fathom monitor --temperature-warning-celsius 75
  fathom monitor --once                  one sample, as text
  fathom monitor --json | jq .devices    one JSON object per line and sample
  fathom monitor --record gpus.pftrace   keeps what it shows; fathom timeline gpus.pftrace shows it again)";

struct MonitorOptions {
  MonitorSettings settings;
  bool once = false;
  bool json = false;
  std::string record;
};

std::atomic<bool> is_asked_to_end = false;

void ask_to_end(int) {
  is_asked_to_end = true;
}

// Ctrl-C and kill end it in order: what is recorded is whole.
void end_in_order() {
  struct sigaction action = {};
  action.sa_handler = ask_to_end;  // and no SA_RESTART: a wait is over
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough
}

std::int64_t clock_ns(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A run file of what the devices do. It is written as it goes, so that a kill costs nothing.
class Recording {
 public:
  Recording(const std::string& path, Files& files) : path_(path) {
    if (path.empty()) return;
    expect_new(path, "Remove it, or name another file", files);
    if (path == kStandard && base::is_terminal(stdout)) {
      throw base::Error("standard output", "is a terminal", "Redirect it, or name a file");
    }
    file_ = path == kStandard
                ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) base::fail_to_write(path_, errno);
    write(trace_.start("fathom monitor", clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC_RAW)));
  }
  ~Recording() {
    if (file_ >= 0) ::close(file_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void take(const Snapshot& snapshot) {
    if (file_ < 0 || snapshot.time_ns == last_ns_) return;
    last_ns_ = snapshot.time_ns;
    ++samples_;
    write(trace_.sample(snapshot.time_ns, snapshot.devices));
  }
  void say_what_was_written() const {
    if (file_ < 0) return;
    base::say(stderr, fmt::format("fathom: {}: {}\n", base::printable(path_),
                                  base::format_plural(samples_, "sample", "samples")));
  }

 private:
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) base::fail_to_write(path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::string path_;
  int file_ = -1;
  record::DeviceTrace trace_;
  std::int64_t last_ns_ = 0;
  std::size_t samples_ = 0;
};

std::string json_line(const Snapshot& snapshot, const std::vector<Alert>& alerts, bool is_demo) {
  std::string text;
  base::JsonWriter json(text);
  report::begin_document(json, "monitor").key("time_ns").value(snapshot.time_ns);
  json.key("demo").value(is_demo);
  json.key("devices").begin_array();
  for (GpuDevice device : snapshot.devices) {
    for (GpuProcess& process : device.processes) {
      process.command = monitor::redacted(process.command);
    }
    devices::write_device(json, device, devices::Commands::shown);
  }
  json.end_array().key("alerts").begin_array();
  for (const Alert& alert : alerts) {
    if (!alert.cleared_ns) monitor::write_alert(json, alert);
  }
  json.end_array().end_object();
  return text + "\n";
}

MonitorScene scene_of(const Monitor& monitor, const std::string& recording_to) {
  MonitorScene scene;
  const std::vector<Snapshot> all = monitor.snapshots();
  for (const Snapshot& snapshot : all) {
    for (const GpuDevice& device : snapshot.devices) {
      scene.utilization[device.uuid].push_back(device.now.utilization_percent);
    }
  }
  if (!all.empty()) scene.now = all.back();
  scene.alerts = monitor.alerts();
  scene.backends = monitor.health().backends;
  scene.config = monitor.config();
  scene.config.monitoring_interval_seconds =
      std::chrono::duration<double>(monitor::sampling_interval(scene.config)).count();
  scene.clock = fmt::format(
      "{:%H:%M:%S}",
      fmt::localtime(static_cast<std::time_t>(clock_ns(CLOCK_REALTIME) / 1'000'000'000)));
  scene.recording_to = recording_to;
  return scene;
}

void show_once(Monitor& monitor, const MonitorOptions& options, Recording& recording) {
  const Snapshot snapshot = monitor.take_snapshot("on_demand");
  recording.take(snapshot);
  if (options.json) {
    base::say(stdout, json_line(snapshot, monitor.alerts(), monitor.config().demo));
    return;
  }
  MonitorScene scene = scene_of(monitor, {});
  scene.utilization.clear();  // of a moment
  base::say(stdout, plain_text(monitor_lines(scene, {}, base::terminal_width(stdout), 0)));
}

// A line per sample, or nothing where it is only recorded, until somebody ends it.
void follow(Monitor& monitor, const MonitorOptions& options, Recording& recording) {
  std::int64_t last_ns = 0;
  const auto wait = std::chrono::duration<double>(
      std::min(0.1, monitor.config().monitoring_interval_seconds / 4));
  while (!is_asked_to_end) {
    for (const Snapshot& snapshot : monitor.snapshots(1)) {
      if (snapshot.time_ns == last_ns) continue;
      last_ns = snapshot.time_ns;
      recording.take(snapshot);
      if (!options.json) continue;
      base::say(stdout, json_line(snapshot, monitor.alerts(), monitor.config().demo));
      if (std::fflush(stdout) != 0) {
        if (errno == EPIPE) std::clearerr(stdout);  // whoever read it has seen enough
        return;
      }
    }
    std::this_thread::sleep_for(wait);
  }
}

Ending run(const MonitorOptions& options, Files& files) {
  if (options.record == kStandard && (options.json || options.once)) {
    throw base::Error("standard output", "would get more than one output",
                      "Name a file to record to");
  }
  const bool is_screen = !options.once && !options.json && base::is_terminal(stdout);
  const bool follows = !options.once && (options.json || !options.record.empty());
  Recording recording(options.record, files);
  Monitor monitor(config_of(options.settings, files));
  end_in_order();
  monitor.start();
  if (is_screen) {
    show_on_terminal(
        [&] {
          MonitorScene scene = scene_of(monitor, options.record);
          recording.take(scene.now);
          return scene;
        },
        [] { return is_asked_to_end.load(); });
  } else if (follows) {
    follow(monitor, options, recording);
  } else {
    show_once(monitor, options, recording);
  }
  monitor.stop();
  recording.say_what_was_written();
  return {};
}

}  // namespace

Command monitor_command() {
  auto options = std::make_shared<MonitorOptions>();
  Command command = {"monitor", "What the GPUs do now, live on the terminal", kMonitorNotes};
  command.option("--once", &options->once, "Print one sample as text and exit");
  command.option("--json", &options->json, "One line of JSON per sample");
  command.option("--record", &options->record, "Keep the samples as a run file (.pftrace)");
  add_settings(command, options->settings);
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
