#include <algorithm>

#include "analyze/memory/memory_roles.h"
#include "base/json_writer.h"
#include "report/json/document.h"
#include "report/memory_report.h"

namespace fathom::report {
namespace {

using analyze::DeviceMemory;
using analyze::Memory;
using analyze::MemoryLevel;

constexpr std::size_t kMostPoints = 1000;  // stretches of a timeline; two points each at most

double ms_since(const Memory& memory, std::int64_t time_ns) {
  return ms_of(time_ns - memory.begin_ns);
}

// Of each stretch of time the highest point and the last one: no peak is lost, and the level
// between two stretches is true. `Point` has time_ns; value(point) is what must not be lost.
template <typename Point, typename Value>
std::vector<const Point*> thinned(const std::vector<Point>& points, const Memory& memory,
                                  Value value) {
  std::vector<const Point*> kept;
  const double stretch =
      std::max(1.0, static_cast<double>(memory.end_ns - memory.begin_ns) / kMostPoints);
  const auto stretch_of = [&](const Point& point) {
    return static_cast<std::size_t>(static_cast<double>(point.time_ns - memory.begin_ns) / stretch);
  };
  const bool keeps_all = points.size() <= 2 * kMostPoints;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i + 1;
    while (!keeps_all && end < points.size() && stretch_of(points[end]) == stretch_of(points[i])) {
      ++end;
    }
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i);
    const auto last = points.begin() + static_cast<std::ptrdiff_t>(end);
    const auto highest = std::max_element(
        first, last, [&](const Point& a, const Point& b) { return value(a) < value(b); });
    kept.push_back(&*highest);
    if (highest + 1 != last) kept.push_back(&points[end - 1]);
    i = end;
  }
  return kept;
}

std::optional<std::int64_t> rss_at(const Memory& memory, std::int64_t time_ns) {
  const auto after = std::upper_bound(
      memory.rss.begin(), memory.rss.end(), time_ns,
      [](std::int64_t at, const analyze::HostSample& sample) { return at < sample.time_ns; });
  if (after == memory.rss.begin()) return {};
  return (after - 1)->bytes;
}

void write_uses(base::JsonWriter& json, const std::vector<MemoryUse>& uses) {
  const auto text = [](std::string_view known) {
    return known.empty() ? std::nullopt : std::optional(known);
  };
  json.begin_array();
  for (const MemoryUse& use : uses) {
    json.begin_object().key("scope").value(text(use.scope)).key("call").value(text(use.call));
    json.key("allocated_mb").value(use.allocated_mb()).key("blocks").value(use.blocks).end_object();
  }
  json.end_array();
}

void write_fragmentation(base::JsonWriter& json, const DeviceMemory& device) {
  json.key("fragmentation");
  if (!device.fragmentation) {
    json.null();
    return;
  }
  json.begin_object().key("share").value(device.fragmentation->share);
  json.key("free_mb").value(mb_of(device.fragmentation->free_bytes));
  json.key("largest_free_mb").value(mb_of(device.fragmentation->largest_free_bytes)).end_object();
}

void write_unused(base::JsonWriter& json, std::string_view key,
                  const std::optional<analyze::UnusedMemory>& unused) {
  json.key(key);
  if (!unused) {
    json.null();
    return;
  }
  json.begin_object().key("reserved_mb").value(mb_of(unused->reserved));
  json.key("free_segments").value(unused->free_segments);
  json.key("free_segments_mb").value(mb_of(unused->free_segment_bytes));
  json.key("holes_mb").value(mb_of(unused->hole_bytes));
  json.key("largest_free_mb").value(mb_of(unused->largest_free_bytes)).end_object();
}

void write_roles(base::JsonWriter& json, const DeviceMemory& device) {
  json.key("roles_at_peak").begin_array();
  for (const analyze::RoleUse& use : device.roles_at_peak) {
    json.begin_object().key("role").value(analyze::role_name(use.role));
    json.key("allocated_mb").value(mb_of(use.bytes)).key("blocks").value(use.blocks).end_object();
  }
  json.end_array();
}

void write_failures(base::JsonWriter& json, const DeviceMemory& device, const Memory& memory) {
  json.key("out_of_memory").begin_array();
  for (const trace::OutOfMemory& failure : device.failures) {
    json.begin_object().key("time_ms").value(ms_since(memory, failure.time_ns));
    json.key("asked_mb").value(mb_of(failure.bytes));
    json.key("device_free_mb").value(mb_of(failure.device_free)).end_object();
  }
  json.end_array();
}

void write_timeline(base::JsonWriter& json, const DeviceMemory& device, const Memory& memory) {
  const auto kept =
      thinned(device.levels, memory, [](const MemoryLevel& level) { return level.allocated; });
  json.key("timeline_points").value(device.levels.size());
  json.key("timeline_is_thinned").value(kept.size() < device.levels.size());
  json.key("timeline").begin_array();
  for (const MemoryLevel* level : kept) {
    json.begin_object().key("time_ms").value(ms_since(memory, level->time_ns));
    json.key("allocated_mb").value(mb_of(level->allocated));
    json.key("reserved_mb").value(mb_of(level->reserved));
    json.key("rss_mb").value(mb_of(rss_at(memory, level->time_ns))).end_object();
  }
  json.end_array();
}

void write_device(base::JsonWriter& json, const DeviceMemory& device, const Memory& memory) {
  const MemoryLevel& peak = device.levels[device.peak];
  json.begin_object().key("device").value(device_label(device));
  json.key("peak_allocated_mb").value(mb_of(peak.allocated));
  json.key("peak_time_ms").value(ms_since(memory, peak.time_ns));
  json.key("reserved_at_peak_mb").value(mb_of(peak.reserved));
  json.key("at_peak");
  write_uses(json, device.at_peak);
  json.key("older_at_peak_mb").value(mb_of(device.unknown_at_peak));
  json.key("leaked_mb").value(mb_of(analyze::total_bytes(device.leaks)));
  json.key("leaks");
  write_uses(json, device.leaks);
  json.key("older_at_end_mb").value(mb_of(device.unknown_at_end));
  write_roles(json, device);
  write_unused(json, "unused_at_peak", device.unused_at_peak);
  write_unused(json, "unused_at_end", device.unused_at_end);
  write_failures(json, device, memory);
  write_fragmentation(json, device);
  json.key("allocations").value(device.allocations).key("frees").value(device.frees);
  json.key("unknown_frees").value(device.unknown_frees);
  json.key("unseen_frees").value(device.unseen_frees);
  json.key("without_address").value(device.without_address);
  json.key("allocated_in_all_mb").value(mb_of(device.allocated_bytes));
  write_timeline(json, device, memory);
  json.end_object();
}

void write_host(base::JsonWriter& json, const Memory& memory) {
  json.key("host");
  if (memory.rss.empty() && !memory.kernel_peak_rss) {
    json.null();
    return;
  }
  const auto bytes = [](const analyze::HostSample& sample) { return sample.bytes; };
  const auto peak =
      std::max_element(memory.rss.begin(), memory.rss.end(),
                       [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
  const auto kept = thinned(memory.rss, memory, bytes);
  const bool is_sampled = peak != memory.rss.end();
  json.begin_object().key("peak_rss_mb");
  json.value(is_sampled ? std::optional(mb_of(peak->bytes)) : std::nullopt).key("peak_time_ms");
  json.value(is_sampled ? std::optional(ms_since(memory, peak->time_ns)) : std::nullopt);
  json.key("kernel_peak_rss_mb").value(mb_of(memory.kernel_peak_rss));
  json.key("timeline_points").value(memory.rss.size());
  json.key("timeline_is_thinned").value(kept.size() < memory.rss.size());
  json.key("timeline").begin_array();
  for (const analyze::HostSample* sample : kept) {
    json.begin_object().key("time_ms").value(ms_since(memory, sample->time_ns));
    json.key("rss_mb").value(mb_of(sample->bytes)).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const MemoryReport& report, const trace::Trace& trace) {
  const Memory& memory = report.memory;
  const DeviceMemory* const main = main_device(memory);
  std::string out;
  base::JsonWriter json(out);
  begin_document(json, "memory").key("source").value(report.source);
  json.key("command").value(trace.run.command.empty()
                                ? std::nullopt
                                : std::optional<std::string_view>(trace.run.command));
  json.key("duration_ms").value(ms_since(memory, memory.end_ns));
  json.key("peak_device")
      .value(main ? std::optional(std::string_view(device_label(*main))) : std::nullopt);
  json.key("peak_allocated_mb")
      .value(main ? std::optional(mb_of(main->peak_bytes())) : std::nullopt);
  json.key("peak_time_ms")
      .value(main ? std::optional(ms_since(memory, main->levels[main->peak].time_ns))
                  : std::nullopt);
  json.key("devices").begin_array();
  for (const DeviceMemory& device : memory.devices) write_device(json, device, memory);
  json.end_array();
  write_host(json, memory);
  json.end_object();
  return out + "\n";
}

}  // namespace fathom::report
