#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/json_writer.h"
#include "fathom/monitor.h"
#include "serve/metrics.h"

namespace fathom::serve {

// {"schema": …, "fathom": the version, … as every document of the API begins; `name` is that of its
// schema in docs/openapi.yaml.
base::JsonWriter& begin_answer(base::JsonWriter& json, std::string_view name);

// Who watches: the channels of the stream of events.
enum class Audience : unsigned { viewers, admins };  // command lines are for admins alone

// What is asked for most is written once per sample, and handed out as it is.
class Live {
 public:
  using Bytes = std::shared_ptr<const std::string>;

  // `publish` is called with each event on a thread of this; `complete` adds what the server knows.
  Live(Monitor& monitor, std::function<void(MetricsInput&)> complete,
       std::function<void(Audience, Bytes)> publish);
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  Bytes status(Audience audience) const;
  Bytes metrics(MetricNames names) const;
  bool is_healthy() const;  // never waits for the monitor: one that hangs is not healthy
  static std::string event(std::string_view name, std::string_view json);

 private:
  void run();
  void look();
  void tell_changes(const Snapshot& now);
  void tell_all(std::string_view name, std::string_view json);

  Monitor& monitor_;
  std::function<void(MetricsInput&)> complete_;
  std::function<void(Audience, Bytes)> publish_;
  int subscription_ = 0;

  mutable std::mutex lock_;
  std::condition_variable woken_;
  bool is_woken_ = false, is_stopping_ = false;
  Bytes status_[2], metrics_, base_metrics_;
  bool is_healthy_ = false;
  std::chrono::steady_clock::time_point looked_at_ = {};
  std::chrono::duration<double> longest_look_;

  // On the thread of this alone: what was told last.
  std::int64_t told_time_ns_ = 0;
  std::map<std::uint64_t, bool> told_alerts_;  // by id: whether it is over
  std::map<std::string, bool> told_devices_;   // by UUID: whether it is lost
  std::map<std::pair<std::string, std::int64_t>, std::uint64_t> xid_errors_;
  bool has_looked_ = false;
  std::thread thread_;
};

}  // namespace fathom::serve
