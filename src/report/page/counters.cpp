#include "report/page/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom::report {
namespace {

struct CounterPoint {
  std::int64_t time_ns = 0;
  double value = 0;
};

// Points that follow each other, as one: from its time to that of the next.
struct CounterSlot {
  std::int64_t time_ns = 0;
  double low = 0;
  double mean = 0;  // weighted by how long each value held
  double high = 0;
};

constexpr std::size_t kMostSlots = 4000;

CounterSlot slot_of(const std::vector<CounterPoint>& points, std::size_t first, std::size_t last) {
  CounterSlot slot = {points[first].time_ns, points[first].value, 0, points[first].value};
  double sum = 0;
  double weighted = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double value = points[i].value;
    slot.low = std::min(slot.low, value);
    slot.high = std::max(slot.high, value);
    sum += value;
    if (i + 1 < points.size()) {
      weighted += value * static_cast<double>(points[i + 1].time_ns - points[i].time_ns);
    }
  }
  const std::int64_t end_ns = points[std::min(last, points.size() - 1)].time_ns;
  const auto length = static_cast<double>(end_ns - slot.time_ns);
  slot.mean = length > 0 ? weighted / length : sum / static_cast<double>(last - first);
  slot.mean = std::clamp(slot.mean, slot.low, slot.high);
  return slot;
}

// Each point by itself where there are few.
std::vector<CounterSlot> slots_of(const std::vector<CounterPoint>& points) {
  const std::size_t each = (points.size() + kMostSlots - 1) / kMostSlots;
  std::vector<CounterSlot> slots;
  for (std::size_t first = 0; first < points.size(); first += each) {
    slots.push_back(slot_of(points, first, std::min(first + each, points.size())));
  }
  return slots;
}

// No more digits than a screen can show.
double rounded(double value, double highest) {
  if (highest <= 0 || !std::isfinite(highest)) return value;
  const double step = std::pow(10.0, std::floor(std::log10(highest)) - 4);
  return std::round(value / step) * step;
}

void write_column(base::JsonWriter& json, std::string_view name,
                  const std::vector<CounterSlot>& slots, double CounterSlot::*value) {
  json.key(name).begin_array();
  for (const CounterSlot& slot : slots) json.value(slot.*value);
  json.end_array();
}

// What a counter is called, and what of, rather than whose, where there is little room.
struct CounterName {
  std::string_view whole;
  std::string_view brief;
};

void write(base::JsonWriter& json, CounterName name, std::string_view unit,
           const std::vector<CounterPoint>& points, std::int64_t begin_ns) {
  if (points.size() < 2) return;  // a figure, no curve
  std::vector<CounterSlot> slots = slots_of(points);
  double highest = 0;
  for (const CounterSlot& slot : slots) highest = std::max(highest, slot.high);
  json.begin_object().key("name").value(name.whole).key("short_name").value(name.brief);
  json.key("unit").value(unit).key("times_ns").begin_array();
  for (const CounterSlot& slot : slots) json.value(slot.time_ns - begin_ns);
  json.end_array();
  if (slots.size() < points.size()) {
    for (CounterSlot& slot : slots) slot.mean = rounded(slot.mean, highest);
    write_column(json, "low", slots, &CounterSlot::low);
    write_column(json, "high", slots, &CounterSlot::high);
  }
  write_column(json, "values", slots, &CounterSlot::mean);
  json.end_object();
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
    write(json, {name, "memory"}, "bytes", points, begin_ns);
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
    write(json, {name, "queue"}, "waiting", points, begin_ns);
  }
}

}  // namespace

void write_counters(base::JsonWriter& json, const trace::Trace& trace, const analyze::GpuWork& work,
                    std::int64_t begin_ns) {
  json.begin_array();
  write_queue(json, trace, work, begin_ns);
  write_memory(json, trace, begin_ns);
  for (const trace::Counter& counter : trace.counters) {
    const std::string_view name = trace.names.view(counter.name);
    if (name == "peak host memory") continue;                             // a figure, no curve
    if (name.ends_with(" allocated") && !trace.memory.empty()) continue;  // the same as the memory
    std::vector<CounterPoint> points;
    for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
      points.push_back({counter.time_ns[i], counter.value[i]});
    }
    write(json, {name, name}, name.ends_with(" reserved") ? "bytes" : "", points, begin_ns);
  }
  json.end_array();
}

}  // namespace fathom::report
