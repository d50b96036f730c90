#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <unordered_map>

#include "analyze/critical_path/runtime_calls.h"
#include "analyze/critical_path/waits.h"
#include "base/contains.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::SpanId;

// A full queue of CUDA holds so many launches. It is 1,021 where only kernels, fills
// and copies on the device are in it; graphs and waits for events, which are not seen, take room
// too.
constexpr std::size_t kFewestQueued = 900;
constexpr std::size_t kMostQueued = 1'024;
// A blocked launch returns so soon after the oldest of them began.
constexpr std::int64_t kUnblockNs = 50'000;

// What is known of names, each looked at once.
struct QueueNames {
  std::vector<bool> is_record;     // that a launch found the queue full
  std::vector<bool> launches;      // a call of CUDA that puts something into the queue
  std::vector<bool> is_host_copy;  // copies from and to the host have a way of their own
  bool has_records = false;

  explicit QueueNames(const trace::Trace& trace)
      : is_record(trace.names.size()),
        launches(trace.names.size()),
        is_host_copy(trace.names.size()) {
    for (trace::NameId id = 0; id < is_record.size(); ++id) {
      const std::string_view name = trace.names.view(id);
      is_record[id] = is_full_record(name);
      has_records = has_records || is_record[id];
      const CallRole role = name.starts_with("cu") ? call_role(name) : CallRole::other;
      launches[id] = role == CallRole::launch || role == CallRole::copy;
      is_host_copy[id] = base::contains(name, "HtoD") || base::contains(name, "DtoH");
    }
  }

  // As CUPTI's tools write it, in capitals or not.
  static bool is_full_record(std::string_view name) {
    constexpr std::string_view kText = "command buffer full";
    return std::equal(name.begin(), name.end(), kText.begin(), kText.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  }
};

class QueueWaits {
 public:
  QueueWaits(const trace::Trace& trace, const GpuWork& gpu)
      : spans_(trace.spans), gpu_(gpu), names_(trace) {}

  std::vector<QueueWait> find() {
    if (names_.has_records) add_recorded();
    if (found_.empty()) {
      for (const DeviceWork& device : gpu_.devices) infer(device);
    }
    std::sort(found_.begin(), found_.end(), [](const QueueWait& a, const QueueWait& b) {
      return std::pair(a.call, a.work) < std::pair(b.call, b.work);
    });
    const auto same = [](const QueueWait& a, const QueueWait& b) { return a.call == b.call; };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    return std::move(found_);
  }

 private:
  bool is_launch(SpanId span) const {
    return spans_.kind[span] == trace::SpanKind::runtime_call && names_.launches[spans_.name[span]];
  }

  // A stream has a queue of its own as long as there are enough channels to the GPU; else several
  // share one.
  void infer(const DeviceWork& device) {
    const std::size_t before = found_.size();
    for (const GpuStream& stream : gpu_.of(device)) {
      if (stream.count > kFewestQueued) infer(queued(stream), true);
    }
    const bool is_shared = found_.size() == before && device.stream_count > 1 &&
                           device.by_start.size() > kFewestQueued;
    if (is_shared) infer(queued(device), false);
  }

  // What of a GPU would go through one queue, as it was launched.
  std::vector<std::uint32_t> queued(const DeviceWork& device) const {
    std::vector<std::uint32_t> rows;
    for (const GpuStream& stream : gpu_.of(device)) {
      for (const std::uint32_t row : queued(stream)) {
        if (gpu_.rows[row].launch != kNoSpan) rows.push_back(row);
      }
    }
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return spans_.start_ns[gpu_.rows[a].launch] < spans_.start_ns[gpu_.rows[b].launch];
    });
    return rows;
  }

  // What of a stream goes through its queue, in order.
  std::vector<std::uint32_t> queued(const GpuStream& stream) const {
    std::vector<std::uint32_t> rows;
    rows.reserve(stream.count);
    for (std::size_t i = stream.first; i < stream.first + stream.count; ++i) {
      const WorkRow& row = gpu_.rows[i];
      const bool is_copy = row.type == WorkType::memory && names_.is_host_copy[row.name];
      if (!is_copy) rows.push_back(static_cast<std::uint32_t>(i));
    }
    return rows;
  }

  // The place of the last that began before a time; `rows.size()` where none did.
  std::size_t last_begun(const std::vector<std::uint32_t>& rows, std::int64_t time_ns) const {
    const auto after = std::partition_point(rows.begin(), rows.end(), [&](std::uint32_t row) {
      return gpu_.rows[row].start_ns < time_ns;
    });
    return after == rows.begin() ? rows.size() : static_cast<std::size_t>(after - rows.begin()) - 1;
  }

  // By name of the call: a quarter of the launches of these rows take no longer than this. The
  // median would not do, for most of them may have been blocked.
  std::unordered_map<trace::NameId, std::int64_t> quick_launches(
      const std::vector<std::uint32_t>& rows) const {
    std::unordered_map<trace::NameId, std::vector<std::int64_t>> times;
    SpanId before = kNoSpan;
    for (const std::uint32_t row : rows) {
      const SpanId call = gpu_.rows[row].launch;
      if (call == kNoSpan || call == before || !is_launch(call)) continue;
      before = call;
      times[spans_.name[call]].push_back(spans_.duration_ns[call]);
    }
    std::unordered_map<trace::NameId, std::int64_t> quick;
    for (auto& [name, all] : times) {
      const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
      std::nth_element(all.begin(), quarter, all.end());
      quick[name] = *quarter;
    }
    return quick;
  }

  // `rows` are those of one queue, as they were launched; of one stream they begin in that order.
  void infer(const std::vector<std::uint32_t>& rows, bool is_by_start) {
    const auto quick = quick_launches(rows);
    std::vector<std::uint32_t> by_start = rows;
    std::unordered_map<std::uint32_t, std::size_t> place;  // in `rows`
    if (!is_by_start) {
      std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
        return gpu_.rows[a].start_ns < gpu_.rows[b].start_ns;
      });
      for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i]] = i;
    }
    SpanId before = kNoSpan;  // a graph has many rows of one call
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SpanId call = gpu_.rows[rows[i]].launch;
      if (call == kNoSpan || call == before) continue;
      before = call;
      if (i < kFewestQueued || !is_launch(call)) continue;
      if (spans_.duration_ns[call] <= 2 * quick.at(spans_.name[call])) continue;
      const std::int64_t returned = spans_.end_ns(call);
      const std::size_t begun = last_begun(by_start, returned);
      if (begun == by_start.size()) continue;
      const std::size_t on = is_by_start ? begun : place.at(by_start[begun]);
      if (on >= i) continue;
      const std::int64_t began = gpu_.rows[rows[on]].start_ns;
      const bool is_full = i - on >= kFewestQueued && i - on <= kMostQueued;
      const bool fits = began > spans_.start_ns[call] && returned - began <= kUnblockNs;
      if (is_full && fits) found_.push_back({call, rows[on], rows[i], Basis::inferred});
    }
  }

  // Which row a call launched, or the last one of its thread where the trace ends before that.
  struct Launched {
    std::unordered_map<SpanId, std::uint32_t> row;
    std::unordered_map<trace::TrackId, std::uint32_t> last;
  };

  Launched launched_rows() const {
    Launched found;
    for (std::uint32_t i = 0; i < gpu_.rows.size(); ++i) {
      const SpanId call = gpu_.rows[i].launch;
      if (call == kNoSpan) continue;
      found.row.try_emplace(call, i);
      const auto [last, is_new] = found.last.try_emplace(spans_.track[call], i);
      if (!is_new && gpu_.rows[last->second].launch < call) last->second = i;
    }
    return found;
  }

  void add_recorded() {
    const std::vector<SpanId> calls = calls_by_end();
    for (SpanId record = 0; record < spans_.size(); ++record) {
      const bool is_linked = names_.is_record[spans_.name[record]] &&
                             spans_.correlation[record] != trace::kNoCorrelation;
      if (is_linked) calls_of_records_.emplace(spans_.correlation[record], kNoSpan);
    }
    for (const SpanId call : calls) {
      const auto record = calls_of_records_.find(spans_.correlation[call]);
      if (record != calls_of_records_.end()) record->second = call;
    }
    std::erase_if(calls_of_records_, [](const auto& one) { return one.second == kNoSpan; });
    const Launched launched = launched_rows();
    std::unordered_map<std::size_t, std::vector<std::uint32_t>> queues;
    for (SpanId record = 0; record < spans_.size(); ++record) {
      if (!names_.is_record[spans_.name[record]]) continue;
      const SpanId call = call_of(record, calls);
      if (call == kNoSpan) continue;
      const auto row = launched.row.find(call);
      const auto last = launched.last.find(spans_.track[call]);
      if (last == launched.last.end()) continue;
      const std::uint32_t near = row != launched.row.end() ? row->second : last->second;
      const std::size_t stream = stream_of(near);
      const auto [queue, is_new] = queues.try_emplace(stream);
      if (is_new) queue->second = queued(gpu_.streams[stream]);
      const std::size_t on = last_begun(queue->second, spans_.end_ns(call));
      if (on == queue->second.size()) continue;
      const std::uint32_t begun = queue->second[on];
      if (gpu_.rows[begun].start_ns <= spans_.start_ns[call]) continue;
      const std::uint32_t work = row != launched.row.end() ? row->second : QueueWait::kNoWork;
      if (work == begun) continue;
      found_.push_back({call, begun, work, Basis::recorded});
    }
  }

  std::size_t stream_of(std::uint32_t row) const {
    const auto after =
        std::partition_point(gpu_.streams.begin(), gpu_.streams.end(),
                             [&](const GpuStream& stream) { return stream.first <= row; });
    return static_cast<std::size_t>(after - gpu_.streams.begin()) - 1;
  }

  std::vector<SpanId> calls_by_end() const {
    std::vector<SpanId> calls;
    for (SpanId id = 0; id < spans_.size(); ++id) {
      if (is_launch(id)) calls.push_back(id);
    }
    std::sort(calls.begin(), calls.end(), [&](SpanId a, SpanId b) {
      return std::pair(spans_.end_ns(a), a) < std::pair(spans_.end_ns(b), b);
    });
    return calls;
  }

  // A record has the correlation of its launch (Nsight Systems), or is within it, on the same
  // thread or on a track of its own.
  SpanId call_of(SpanId record, const std::vector<SpanId>& by_end) const {
    const auto same = calls_of_records_.find(spans_.correlation[record]);
    if (same != calls_of_records_.end()) return same->second;
    for (SpanId at = spans_.parent[record]; at != kNoSpan; at = spans_.parent[at]) {
      if (is_launch(at)) return at;
    }
    constexpr int kTried = 8;  // launches of other threads that returned at about the same time
    const std::int64_t end = spans_.end_ns(record) - kClockSlackNs;
    auto call = std::partition_point(by_end.begin(), by_end.end(),
                                     [&](SpanId one) { return spans_.end_ns(one) < end; });
    for (int i = 0; i < kTried && call != by_end.end(); ++i, ++call) {
      if (spans_.start_ns[*call] <= spans_.start_ns[record] + kClockSlackNs) return *call;
    }
    return kNoSpan;
  }

  const trace::Spans& spans_;
  const GpuWork& gpu_;
  QueueNames names_;
  std::unordered_map<std::int64_t, SpanId> calls_of_records_;  // by correlation
  std::vector<QueueWait> found_;
};

}  // namespace

std::vector<QueueWait> queue_waits(const trace::Trace& trace, const GpuWork& gpu) {
  return QueueWaits(trace, gpu).find();
}

const QueueWait* queue_wait_of(const Dependencies& dependencies, SpanId call) {
  const std::vector<QueueWait>& waits = dependencies.queue_waits;
  const auto at = std::partition_point(waits.begin(), waits.end(),
                                       [&](const QueueWait& wait) { return wait.call < call; });
  return at != waits.end() && at->call == call ? &*at : nullptr;
}

}  // namespace fathom::analyze
