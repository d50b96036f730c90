#include "analyze/hta/queue.h"

#include <algorithm>
#include <cmath>

#include "base/sort_runs.h"

namespace fathom::analyze {
namespace {

// The length that the queue did not exceed for a share `q` of the time.
std::uint64_t quantile(const std::vector<std::int64_t>& time_at, std::int64_t window_ns, double q) {
  const auto wanted = static_cast<std::int64_t>(std::ceil(static_cast<double>(window_ns) * q));
  std::int64_t seen = 0;
  for (std::size_t length = 0; length < time_at.size(); ++length) {
    seen += time_at[length];
    if (seen >= wanted) return length;
  }
  return time_at.empty() ? 0 : time_at.size() - 1;
}

// Both sorted; the queue grows at an enqueue and shrinks at a start. Of two at the same time the
// enqueue comes first: work that starts at once has waited, for no time.
void sweep(const std::vector<std::int64_t>& enqueued, const std::vector<std::int64_t>& started,
           QueueLength& queue) {
  std::vector<std::int64_t> time_at(1);
  std::size_t in = 0;
  std::size_t out = 0;
  std::int64_t now = enqueued.front();
  double area = 0;
  while (out < started.size()) {
    const bool grows = in < enqueued.size() && enqueued[in] <= started[out];
    const std::int64_t next = grows ? enqueued[in] : started[out];
    const std::size_t length = in - out;
    time_at[length] += next - now;
    area += static_cast<double>(length) * static_cast<double>(next - now);
    now = next;
    ++(grows ? in : out);
    if (in - out >= time_at.size()) time_at.resize(in - out + 1);
  }
  queue.window_ns = now - enqueued.front();
  queue.mean = queue.window_ns > 0 ? area / static_cast<double>(queue.window_ns) : 0;
  queue.p50 = quantile(time_at, queue.window_ns, 0.5);
  queue.p95 = quantile(time_at, queue.window_ns, 0.95);
  queue.max = time_at.size() - 1;
  queue.empty_ns = time_at[0];
  for (std::size_t length = kFullQueue; length < time_at.size(); ++length) {
    queue.full_ns += time_at[length];
  }
}

}  // namespace

std::vector<QueueLength> queue_lengths(const trace::Trace& trace, const GpuWork& work,
                                       const DeviceWork& device) {
  std::vector<QueueLength> found;
  for (const GpuStream& stream : work.of(device)) {
    std::vector<std::int64_t> enqueued;
    std::vector<std::int64_t> started;
    for (const WorkRow& row : work.of(stream)) {
      if (row.launch == trace::kNoSpan) continue;
      // Clocks of host and GPU differ by a little: nothing starts before it was launched.
      enqueued.push_back(std::min(trace.spans.start_ns[row.launch], row.start_ns));
      started.push_back(row.start_ns);
    }
    if (started.empty()) continue;
    base::sort_runs(std::span(enqueued), std::less<>());
    QueueLength queue;
    queue.device = stream.device;
    queue.stream = stream.stream;
    queue.launched = started.size();
    sweep(enqueued, started, queue);
    found.push_back(queue);
  }
  return found;
}

}  // namespace fathom::analyze
