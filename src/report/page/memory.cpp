#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyze/hta/hta_summary.h"
#include "base/format.h"
#include "report/memory_report.h"
#include "report/page/part.h"
#include "report/page/sections.h"
#include "report/page/series.h"

namespace fathom::report {
namespace {

using analyze::DeviceMemory;
using base::JsonWriter;

using MemoryPoint = SeriesPoint<std::int64_t>;

struct Series {
  const char* what = "";  // "allocated", "reserved", "resident"
  std::string label;
  std::vector<MemoryPoint> points;
};

void write_series(JsonWriter& json, Series series, const analyze::Memory& memory) {
  // What is held last is held to the end.
  series.points.push_back({memory.end_ns, series.points.back().value});
  const std::vector<MemoryPoint> points = thinned(series.points);
  json.begin_object().key("what").value(series.what).key("label").value(series.label);
  json.key("times_ns").begin_array();
  for (const MemoryPoint& point : points) json.value(point.time_ns - memory.begin_ns);
  json.end_array().key("bytes").begin_array();
  for (const MemoryPoint& point : points) json.value(point.value);
  json.end_array().end_object();
}

void write_uses(JsonWriter& json, const char* key, const std::vector<MemoryUse>& uses) {
  json.key(key).begin_array();
  for (const MemoryUse& use : uses) {
    json.begin_object().key("scope").value(use.scope).key("call").value(use.call);
    json.key("blocks").value(use.blocks).key("bytes").value(use.bytes).end_object();
  }
  json.end_array();
}

// "70 % of 16 GB"; where the size of the device is not known, its name.
std::string share_text(std::int64_t bytes, const DeviceMemory& device, const trace::Trace& trace) {
  for (const trace::DeviceInfo& info : trace.run.devices) {
    const bool is_this = device.device == trace::MemoryDevice::gpu && info.id == device.index;
    if (!is_this || info.memory_bytes.value_or(0) <= 0) continue;
    const double share = analyze::percent_of(bytes, *info.memory_bytes);
    return fmt::format("{:.{}f} % of {}", share, share < 1 ? 1 : 0,
                       base::format_bytes(*info.memory_bytes));
  }
  return "on " + device_label(device);
}

void write_device(JsonWriter& json, const DeviceMemory& device, const analyze::Memory& memory,
                  const trace::Trace& trace) {
  Series allocated{"allocated", "allocated", {}};
  Series reserved{"reserved", "reserved", {}};
  for (const analyze::MemoryLevel& level : device.levels) {
    allocated.points.push_back({level.time_ns, level.allocated});
    if (level.reserved) reserved.points.push_back({level.time_ns, *level.reserved});
  }
  const bool is_host = device.device == trace::MemoryDevice::cpu;
  json.begin_object().key("label").value(device_label(device));
  json.key("part").value(page_part(is_host ? analyze::Part::cpu : analyze::Part::gpu));
  json.key("series").begin_array();
  write_series(json, std::move(allocated), memory);
  if (!reserved.points.empty()) write_series(json, std::move(reserved), memory);
  json.end_array();
  write_cards(json, memory_cards(device, memory, trace));
  write_uses(json, "at_peak", device.at_peak);
  json.key("unknown_at_peak").value(device.unknown_at_peak);
  write_uses(json, "leaks", device.leaks);
  json.key("unknown_at_end").value(device.unknown_at_end);
  json.end_object();
}

}  // namespace

std::vector<Card> memory_cards(const DeviceMemory& device, const analyze::Memory& memory,
                               const trace::Trace& trace) {
  const std::string when = base::format_duration(
      static_cast<double>(device.levels[device.peak].time_ns - memory.begin_ns));
  std::vector<Card> cards;
  cards.push_back({"Peak", base::format_bytes(device.peak_bytes()),
                   fmt::format("{} into the recording", when)});
  if (const auto reserved = device.most_reserved; reserved.value_or(0) > 0) {
    cards.push_back(
        {"Reserved", base::format_bytes(*reserved), share_text(*reserved, device, trace)});
  }
  cards.push_back({"Allocations", base::format_count(device.allocations),
                   fmt::format("{} in total", base::format_bytes(device.allocated_bytes))});
  std::string blocks = base::format_plural(analyze::total_blocks(device.leaks), "block", "blocks");
  if (device.unknown_at_end > 0) {
    blocks += fmt::format(", and {} from before", base::format_bytes(device.unknown_at_end));
  }
  cards.push_back({"Alive at the end",
                   base::format_bytes(analyze::total_bytes(device.leaks) + device.unknown_at_end),
                   blocks});
  if (device.fragmentation) {
    cards.push_back({"Fragmentation", base::format_percent(device.fragmentation->share * 100),
                     fmt::format("of {} free at the peak",
                                 base::format_bytes(device.fragmentation->free_bytes))});
  }
  return cards;
}

Card peak_memory_card(const DeviceMemory& device, const trace::Trace& trace) {
  return {"Peak memory", base::format_bytes(device.peak_bytes()),
          share_text(device.peak_bytes(), device, trace)};
}

void write_memory(JsonWriter& json, const trace::Trace& trace, const analyze::Memory& memory) {
  json.key("memory");
  if (memory.devices.empty() && memory.rss.empty()) {
    json.null();
    return;
  }
  const DeviceMemory* const first = main_device(memory);
  json.begin_object().key("devices").begin_array();
  if (first != nullptr) write_device(json, *first, memory, trace);
  for (const DeviceMemory& device : memory.devices) {
    if (&device != first) write_device(json, device, memory, trace);
  }
  json.end_array().key("host");
  if (memory.rss.empty()) {
    json.null().key("host_peak_bytes").null().end_object();
    return;
  }
  Series rss{"resident", "resident on the host", {}};
  for (const analyze::HostSample& sample : memory.rss) {
    rss.points.push_back({sample.time_ns, sample.bytes});
  }
  write_series(json, std::move(rss), memory);
  json.key("host_peak_bytes").value(peak_rss(memory)).end_object();
}

}  // namespace fathom::report
