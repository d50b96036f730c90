#include "analyze/critical_path/dependencies.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyze/critical_path/waits.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;

// Shorter gaps between operations are what a thread does by itself.
constexpr std::int64_t kIdleNs = 100'000;

class HandOvers {
 public:
  HandOvers(const HostLines& host, const HostNames& names) : host_(host), names_(names) {}

  // Among threads that may wait for one another.
  void find_among(const std::vector<std::uint32_t>& threads) {
    for (const std::uint32_t thread : threads) {
      const HostThread& line = host_.threads[thread];
      std::int64_t idle_since = INT64_MIN;  // before its first piece nothing is known of it
      for (std::uint32_t i = line.first; i < line.last; ++i) {
        if (!names_.shows_work(host_.span[i])) continue;
        const std::int64_t at = host_.start_ns[i];
        if (idle_since == INT64_MIN || at - idle_since >= kIdleNs) {
          find_for(thread, idle_since, at, threads);
        }
        idle_since = host_.start_ns[i + 1];
      }
    }
  }

  std::vector<HandOver> take() { return std::move(found_); }

 private:
  void find_for(std::uint32_t thread, std::int64_t since, std::int64_t at,
                const std::vector<std::uint32_t>& threads) {
    HandOver best{thread, thread, at, since, since};
    for (const std::uint32_t other : threads) {
      if (other == thread) continue;
      const std::int64_t done = done_before(host_.threads[other], at, best.from_time_ns);
      if (done > best.from_time_ns) best = {thread, other, at, done, since};
    }
    if (best.from != thread) found_.push_back(best);
  }

  // When the thread's last work before `at` ended; `floor` where that was no later, or where it was
  // still at work.
  std::int64_t done_before(const HostThread& line, std::int64_t at, std::int64_t floor) const {
    if (host_.begin_ns(line) >= at || host_.end_ns(line) <= floor) return floor;
    std::uint32_t i = host_.piece_before(line, std::min(at, host_.end_ns(line)));
    if (names_.shows_work(host_.span[i]) && host_.start_ns[i + 1] > at) return floor;
    while (i > line.first && host_.start_ns[i + 1] > floor && !names_.shows_work(host_.span[i]))
      --i;
    return names_.shows_work(host_.span[i]) ? std::max(floor, host_.start_ns[i + 1]) : floor;
  }

  const HostLines& host_;
  const HostNames& names_;
  std::vector<HandOver> found_;
};

}  // namespace

std::vector<HandOver> hand_overs(const trace::Trace& trace, const GpuWork& gpu,
                                 const HostLines& host) {
  std::set<trace::TrackId> launchers;
  trace::TrackId last = UINT32_MAX;
  for (const WorkRow& row : gpu.rows) {
    if (row.launch == kNoSpan || trace.spans.track[row.launch] == last) continue;
    last = trace.spans.track[row.launch];
    launchers.insert(last);
  }
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::uint32_t>> by_process;
  for (const trace::TrackId track : launchers) {
    if (host.thread_of_track[track] == HostLines::kNoThread) continue;
    by_process[{trace.tracks[track].pid, trace.tracks[track].pid_text}].push_back(
        host.thread_of_track[track]);
  }
  const HostNames names(trace);
  HandOvers found(host, names);
  for (const auto& [process, threads] : by_process) {
    if (threads.size() > 1) found.find_among(threads);
  }
  std::vector<HandOver> all = found.take();
  std::sort(all.begin(), all.end(), [](const HandOver& a, const HandOver& b) {
    return std::pair(a.thread, a.time_ns) < std::pair(b.thread, b.time_ns);
  });
  return all;
}

LaunchedBy launched_by(const trace::Spans& spans, const GpuWork& gpu) {
  LaunchedBy latest(gpu.rows.size());
  for (const GpuStream& stream : gpu.streams) {
    std::int64_t behind = INT64_MAX;
    for (std::size_t i = stream.first + stream.count; i-- > stream.first;) {
      const WorkRow& row = gpu.rows[i];
      const bool is_known = row.launch != kNoSpan;
      behind = std::min(behind, is_known ? spans.start_ns[row.launch] : row.start_ns);
      latest[i] = behind;
    }
  }
  return latest;
}

std::size_t first_launched_from(const GpuStream& stream, const LaunchedBy& launched,
                                std::int64_t time_ns) {
  const auto from = launched.begin() + static_cast<std::ptrdiff_t>(stream.first);
  const auto to = from + static_cast<std::ptrdiff_t>(stream.count);
  return static_cast<std::size_t>(std::lower_bound(from, to, time_ns) - launched.begin());
}

Dependencies dependencies(const trace::Trace& trace) {
  return dependencies(trace, gpu_work(trace));
}

Dependencies dependencies(const trace::Trace& trace, GpuWork all_work) {
  return dependencies(trace, std::move(all_work), host_lines(trace));
}

Dependencies dependencies(const trace::Trace& trace, GpuWork all_work, HostLines host) {
  Dependencies found;
  found.gpu = std::move(all_work);
  found.host = std::move(host);
  const LaunchedBy launched = launched_by(trace.spans, found.gpu);
  found.gpu_waits = gpu_waits(trace, found.gpu, launched);
  found.host_waits = host_waits(trace, found.gpu, launched);
  found.queue_waits = queue_waits(trace, found.gpu);
  found.hand_overs = hand_overs(trace, found.gpu, found.host);
  return found;
}

std::vector<std::uint32_t> threads_taking_part(const trace::Trace& trace,
                                               const Dependencies& dependencies) {
  const HostLines& host = dependencies.host;
  std::vector<bool> launches(host.threads.size());
  for (const WorkRow& row : dependencies.gpu.rows) {
    if (row.launch == kNoSpan) continue;
    const std::uint32_t thread = host.thread_of_track[trace.spans.track[row.launch]];
    if (thread != HostLines::kNoThread) launches[thread] = true;
  }
  const bool none = std::find(launches.begin(), launches.end(), true) == launches.end();
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < launches.size(); ++i) {
    if (launches[i] || none) found.push_back(i);
  }
  return found;
}

base::Interval window_of(const Dependencies& dependencies,
                         const std::vector<std::uint32_t>& threads) {
  base::Interval window{INT64_MAX, INT64_MIN};
  for (const WorkRow& row : dependencies.gpu.rows) {
    window.begin = std::min(window.begin, row.start_ns);
    window.end = std::max(window.end, row.end_ns);
  }
  for (const std::uint32_t i : threads) {
    const HostThread& thread = dependencies.host.threads[i];
    window.begin = std::min(window.begin, dependencies.host.begin_ns(thread));
    window.end = std::max(window.end, dependencies.host.end_ns(thread));
  }
  return window.begin > window.end ? base::Interval{} : window;
}

}  // namespace fathom::analyze
