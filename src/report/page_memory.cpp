#include "report/page_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace fathom::report {
namespace {

struct Point {
  std::int64_t time_ns = 0;
  double bytes = 0;
};

struct Series {
  std::string label;
  std::vector<Point> points;
  std::optional<std::int64_t> capacity_bytes;
};

// More points than a screen has columns say nothing more. Of each stretch of points the largest is
// kept, so that no peak is lost.
constexpr std::size_t kMostPoints = 2000;

std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<Point> kept;
  kept.reserve(kMostPoints);
  for (std::size_t slot = 0; slot < kMostPoints; ++slot) {
    const auto at = [&](std::size_t index) {
      return points.begin() + static_cast<std::ptrdiff_t>(index * points.size() / kMostPoints);
    };
    kept.push_back(*std::max_element(
        at(slot), at(slot + 1), [](const Point& a, const Point& b) { return a.bytes < b.bytes; }));
  }
  return kept;
}

std::string device_label(const trace::MemoryEvent& event, const char* what) {
  switch (event.device) {
    case trace::MemoryDevice::cpu:
      return fmt::format("host, {}", what);
    case trace::MemoryDevice::gpu:
      return event.device_index < 0 ? fmt::format("GPU, {}", what)
                                    : fmt::format("GPU {}, {}", event.device_index, what);
    default:
      return what;
  }
}

std::optional<std::int64_t> capacity(const trace::Trace& trace, const trace::MemoryEvent& event) {
  if (event.device != trace::MemoryDevice::gpu) return std::nullopt;
  for (const trace::DeviceInfo& device : trace.run.devices) {
    if (device.id == event.device_index) return device.memory_bytes;
  }
  return std::nullopt;
}

// What the allocator says it holds; where it does not say, the sum of what was seen to come and go.
std::vector<Series> series_of(const trace::Trace& trace, std::int64_t begin_ns) {
  std::vector<const trace::MemoryEvent*> events;
  for (const trace::MemoryEvent& event : trace.memory) events.push_back(&event);
  std::stable_sort(events.begin(), events.end(),
                   [](const auto* a, const auto* b) { return a->time_ns < b->time_ns; });
  std::map<std::string, Series> found;
  std::map<std::string, double> sums;
  const auto add = [&](const trace::MemoryEvent& event, const char* what, double bytes) {
    Series& series = found[device_label(event, what)];
    if (series.points.empty()) series.capacity_bytes = capacity(trace, event);
    series.points.push_back({event.time_ns - begin_ns, bytes});
  };
  for (const trace::MemoryEvent* event : events) {
    double& sum = sums[device_label(*event, "")];
    sum += static_cast<double>(event->bytes);
    add(*event, "allocated",
        event->total_allocated ? static_cast<double>(*event->total_allocated) : sum);
    if (event->total_reserved.value_or(0) > 0) {
      add(*event, "reserved", static_cast<double>(*event->total_reserved));
    }
  }
  std::vector<Series> all;
  for (auto& [label, series] : found) {
    series.label = label;
    all.push_back(std::move(series));
  }
  return all;
}

void write_series(base::JsonWriter& json, const Series& series) {
  const Point peak =
      *std::max_element(series.points.begin(), series.points.end(),
                        [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
  const std::vector<Point> points = thinned(series.points);
  json.begin_object().key("label").value(series.label);
  json.key("times_ns").begin_array();
  for (const Point& point : points) json.value(point.time_ns);
  json.end_array().key("bytes").begin_array();
  for (const Point& point : points) json.value(point.bytes);
  json.end_array().key("peak_bytes").value(peak.bytes).key("peak_time_ns").value(peak.time_ns);
  json.key("capacity_bytes").value(series.capacity_bytes).end_object();
}

}  // namespace

void write_memory(base::JsonWriter& json, const trace::Trace& trace, std::int64_t begin_ns) {
  json.key("memory");
  if (trace.memory.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("series").begin_array();
  for (const Series& series : series_of(trace, begin_ns)) write_series(json, series);
  json.end_array().key("holders").begin_array().end_array();
  json.key("leaks").begin_array().end_array().end_object();
}

}  // namespace fathom::report
