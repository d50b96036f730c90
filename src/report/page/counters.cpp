#include "report/page/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/page/series.h"

namespace fathom::report {
namespace {

using CounterPoint = SeriesPoint<double>;

void write(base::JsonWriter& json, std::string_view name, std::string_view unit,
           const std::vector<CounterPoint>& points, std::int64_t begin_ns) {
  if (points.empty()) return;
  const std::vector<CounterPoint> shown = thinned(points);
  json.begin_object().key("name").value(name).key("unit").value(unit).key("times_ns").begin_array();
  for (const CounterPoint& point : shown) json.value(point.time_ns - begin_ns);
  json.end_array().key("values").begin_array();
  for (const CounterPoint& point : shown) json.value(point.value);
  json.end_array().end_object();
}

void write_memory(base::JsonWriter& json, const trace::Trace& trace, std::int64_t begin_ns) {
  std::map<std::int32_t, std::vector<CounterPoint>> by_gpu;
  for (const trace::MemoryEvent& event : trace.memory) {
    if (event.device != trace::MemoryDevice::gpu || !event.total_allocated) continue;
    by_gpu[event.device_index].push_back(
        {event.time_ns, static_cast<double>(*event.total_allocated)});
  }
  for (auto& [gpu, points] : by_gpu) {
    std::stable_sort(
        points.begin(), points.end(),
        [](const CounterPoint& a, const CounterPoint& b) { return a.time_ns < b.time_ns; });
    const std::string name = gpu < 0 ? "GPU memory" : fmt::format("GPU {} · memory", gpu);
    write(json, name, "bytes", points, begin_ns);
  }
}

// Work that is launched and has not begun.
void write_queue(base::JsonWriter& json, const trace::Trace& trace, const analyze::GpuWork& work,
                 std::int64_t begin_ns) {
  for (const analyze::DeviceWork& device : work.devices) {
    std::vector<std::pair<std::int64_t, int>> changes;
    for (const std::uint32_t at : device.by_start) {
      const analyze::WorkRow& row = work.rows[at];
      if (row.launch == trace::kNoSpan) continue;
      const std::int64_t launched = trace.spans.start_ns[row.launch];
      changes.emplace_back(std::min(launched, row.start_ns), 1);
      changes.emplace_back(row.start_ns, -1);
    }
    std::sort(changes.begin(), changes.end());
    std::vector<CounterPoint> points;
    double waiting = 0;
    for (const auto& [time_ns, change] : changes) {
      waiting += change;
      if (!points.empty() && points.back().time_ns == time_ns) {
        points.back().value = waiting;
      } else {
        points.push_back({time_ns, waiting});
      }
    }
    const std::string name =
        device.device ? fmt::format("GPU {} · queue", *device.device) : std::string("GPU queue");
    write(json, name, "waiting", points, begin_ns);
  }
}

}  // namespace

void write_counters(base::JsonWriter& json, const trace::Trace& trace, const analyze::GpuWork& work,
                    std::int64_t begin_ns) {
  json.begin_array();
  write_queue(json, trace, work, begin_ns);
  write_memory(json, trace, begin_ns);
  for (const trace::Counter& counter : trace.counters) {
    if (trace.names.view(counter.name) == "peak host memory") continue;  // a figure, no curve
    std::vector<CounterPoint> points;
    for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
      points.push_back({counter.time_ns[i], counter.value[i]});
    }
    write(json, trace.names.view(counter.name), "", points, begin_ns);
  }
  json.end_array();
}

}  // namespace fathom::report
