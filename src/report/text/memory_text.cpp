#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analyze/hta/hta_summary.h"
#include "analyze/memory/memory_roles.h"
#include "base/format.h"
#include "base/printable.h"
#include "base/table.h"
#include "report/memory_report.h"
#include "report/text/level_chart.h"
#include "report/text/more_rows.h"

namespace fathom::report {
namespace {

using analyze::DeviceMemory;
using analyze::Memory;

constexpr std::size_t kLabel = 22;  // columns left of a chart
constexpr std::size_t kWidest = 100;

std::string time_text(std::int64_t ns) {
  return base::format_duration(static_cast<double>(ns));
}

std::string place_text(const MemoryUse& use) {
  if (use.scope.empty() && !use.call.empty()) return use.call;
  const std::string scope = use.scope.empty() ? "(no scope)" : std::string(use.scope);
  return use.call.empty() ? scope : fmt::format("{} · {}", scope, use.call);
}

std::string device_name(const DeviceMemory& device, const trace::Trace& trace) {
  for (const trace::DeviceInfo& info : trace.run.devices) {
    const bool is_this = device.device == trace::MemoryDevice::gpu && info.id == device.index;
    if (is_this && !info.name.empty()) return info.name;
  }
  return {};
}

std::string headline(const MemoryReport& report, const trace::Trace& trace) {
  std::string line =
      "  " + (trace.run.command.empty() ? std::filesystem::path(report.source).filename().string()
                                        : trace.run.command);
  if (const DeviceMemory* device = main_device(report.memory)) {
    const std::string name = device_name(*device, trace);
    if (!name.empty()) line += " · " + name;
  }
  const std::int64_t duration = report.memory.end_ns - report.memory.begin_ns;
  if (duration > 0) line += " · " + time_text(duration);
  return base::printable(line) + "\n";
}

// Between two samples a program can have had more: then the kernel knows, for one process at least.
std::string host_sentence(const Memory& memory) {
  if (!peak_rss(memory)) {
    return fmt::format("the program ended after one sample of host memory, {} at its start",
                       base::format_bytes(memory.rss.front().bytes));
  }
  const bool is_counted = peak_rss(memory) == memory.kernel_peak_rss;
  return fmt::format("host memory peaked at {}{}", base::format_bytes(*peak_rss(memory)),
                     is_counted ? " according to the kernel" : "");
}

// Without addresses nobody knows what was freed.
std::string left_over(const DeviceMemory& device) {
  if (device.without_address == device.allocations + device.frees) return {};
  if (device.leaks.empty()) {
    const std::string older = base::format_bytes(device.unknown_at_end);
    return "Everything allocated during the recording was freed again" +
           (device.unknown_at_end > 0 ? "; " + older + " is older than the recording." : ".");
  }
  std::string text = leak_sentence(device.leaks);
  if (device.unknown_at_end > 0) {
    text += fmt::format(" {} more is older than the recording.",
                        base::format_bytes(device.unknown_at_end));
  }
  return text;
}

// A call outside of any scope is named alone, unless scopes made the same call: it is not all of it
// then.
std::string place_in_words(const MemoryUse& use, const std::vector<MemoryUse>& all) {
  if (!use.scope.empty() || use.call.empty()) return place_text(use);
  const bool is_in_scopes_too = std::ranges::any_of(
      all, [&](const MemoryUse& other) { return other.call == use.call && !other.scope.empty(); });
  return std::string(use.call) + (is_in_scopes_too ? ", outside any scope" : "");
}

std::string peak_sentence(const DeviceMemory& device, const Memory& memory) {
  const std::int64_t peak = device.peak_bytes();
  std::string text = fmt::format("{} memory peaked at {}, {} into the recording",
                                 device_label(device), base::format_bytes(peak),
                                 time_text(device.levels[device.peak].time_ns - memory.begin_ns));
  if (device.unknown_at_peak * 2 > peak && !device.at_peak.empty()) {
    text += fmt::format("; {} of it was allocated before the recording began",
                        base::format_percent(analyze::percent_of(device.unknown_at_peak, peak)));
  } else if (!device.at_peak.empty()) {
    const MemoryUse& first = device.at_peak.front();
    const bool is_all = first.bytes == peak;
    const std::string share =
        is_all ? "all" : base::format_percent(analyze::percent_of(first.bytes, peak));
    text += fmt::format("; {} of it from {}", share, place_in_words(first, device.at_peak));
  }
  return base::printable(text) + ".";
}

// A chart with its scale to the left and the time below.
std::string chart(const std::string& name, const std::vector<ChartLevel>& levels,
                  const std::vector<ChartLevel>& above, const Memory& memory, std::size_t rows,
                  std::size_t width) {
  const std::size_t columns = std::clamp<std::size_t>(width, kLabel + 20, kWidest) - kLabel - 2;
  const auto by_column = [&](const std::vector<ChartLevel>& of) {
    return of.empty() ? std::vector<std::int64_t>()
                      : highest_by_column(of, memory.begin_ns, memory.end_ns, columns);
  };
  std::int64_t top = 0;
  for (const ChartLevel& level : levels) top = std::max(top, level.value);
  for (const ChartLevel& level : above) top = std::max(top, level.value);
  const std::vector<std::string> lines = bar_rows(by_column(levels), by_column(above), top, rows);
  std::string text = "\n";
  for (std::size_t row = 0; row < lines.size(); ++row) {
    const std::string scale = row == 0 ? base::format_bytes(top) : "";
    std::string line = fmt::format("  {:<8}{:>10}  {}", row == 0 ? name : "", scale, lines[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  const std::string end = time_text(memory.end_ns - memory.begin_ns);
  text += fmt::format("  {:<20}0{:>{}}\n", "", end,
                      columns - 1 + (end.size() - base::display_width(end)));
  return text;
}

std::string device_chart(const DeviceMemory& device, const Memory& memory, std::size_t width) {
  const std::size_t rows = device.device == main_device(memory)->device ? 4 : 2;
  std::vector<ChartLevel> allocated;
  std::vector<ChartLevel> reserved;
  for (const analyze::MemoryLevel& level : device.levels) {
    allocated.push_back({level.time_ns, level.allocated});
    if (level.reserved) reserved.push_back({level.time_ns, *level.reserved});
  }
  return chart(device_label(device), allocated, reserved, memory, rows, width);
}

std::string use_table(const std::string& title, const std::vector<MemoryUse>& uses,
                      std::int64_t older, std::size_t top, std::size_t width) {
  if (uses.empty()) return {};
  const std::int64_t whole = analyze::total_bytes(uses) + older;
  base::Table table({title, "bytes", "blocks", "share"});
  const std::size_t shown = std::min(top, uses.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.row({place_text(uses[i]), base::format_bytes(uses[i].bytes),
               base::format_count(uses[i].blocks),
               base::format_percent(analyze::percent_of(uses[i].bytes, whole))});
  }
  if (older > 0) {
    table.row({"(allocated before the recording)", base::format_bytes(older), "–",
               base::format_percent(analyze::percent_of(older, whole))});
  }
  return "\n" + table.text(width) + more_rows(uses.size(), shown);
}

// What the memory of the peak was for, where that can be told.
std::string role_table(const DeviceMemory& device, std::size_t width) {
  if (device.roles_at_peak.empty()) return {};
  base::Table table({"at the peak, by what it is for", "bytes", "blocks", "share"});
  for (const analyze::RoleUse& use : device.roles_at_peak) {
    table.row({std::string(analyze::role_name(use.role)), base::format_bytes(use.bytes),
               base::format_count(use.blocks),
               base::format_percent(analyze::percent_of(use.bytes, device.peak_bytes()))});
  }
  return "\n" + table.text(width);
}

// What happened beside the levels, a line each.
std::string facts(const DeviceMemory& device) {
  std::string text =
      fmt::format("\n  {}, {}, {} in total",
                  base::format_plural(device.allocations, "allocation", "allocations"),
                  base::format_plural(device.frees, "free", "frees"),
                  base::format_bytes(device.allocated_bytes));
  if (device.allocations > 0 && device.peak_bytes() > 0) {
    text += fmt::format(": {:.1f} × the peak", static_cast<double>(device.allocated_bytes) /
                                                   static_cast<double>(device.peak_bytes()));
  }
  text += ".\n";
  for (const std::string& note : memory_notes(device)) text += "  " + note + "\n";
  if (const std::string hint = softmax_hint(device); !hint.empty()) text += "  " + hint + "\n";
  const analyze::MemoryLevel& peak = device.levels[device.peak];
  if (peak.reserved && !device.unused_at_peak) {
    const std::int64_t unused = std::max<std::int64_t>(0, *peak.reserved - peak.allocated);
    text += fmt::format("  At the peak {} was reserved; {} of it was unused.\n",
                        base::format_bytes(*peak.reserved),
                        base::format_percent(analyze::percent_of(unused, *peak.reserved)));
  }
  if (device.fragmentation && device.fragmentation->free_bytes > 0) {
    text += fmt::format("  Fragmentation at the peak: {}. {} was free, the largest piece {}.\n",
                        base::format_percent(device.fragmentation->share * 100),
                        base::format_bytes(device.fragmentation->free_bytes),
                        base::format_bytes(device.fragmentation->largest_free_bytes));
  }
  if (device.without_address > 0) {
    text += fmt::format("  {} without an address: the owner of that memory is unknown.\n",
                        base::format_plural(device.without_address, "event", "events"));
  }
  if (device.unseen_frees > 0) {
    text += fmt::format("  {} missing: the address was allocated again.\n",
                        base::format_plural(device.unseen_frees, "free is", "frees are"));
  }
  return text;
}

}  // namespace

MemoryStory memory_story(const Memory& memory, const trace::Trace& trace) {
  if (const DeviceMemory* const device = main_device(memory)) {
    return {peak_sentence(*device, memory), left_over(*device)};
  }
  if (!memory.rss.empty() || memory.kernel_peak_rss) {
    return {fmt::format("No device memory was allocated; {}.", host_sentence(memory)), ""};
  }
  return {trace.run.begin_ns
              ? "The program ended before its memory could be sampled."
              : "This file has no memory events. With PyTorch, record with profile_memory=True.",
          ""};
}

std::string to_text(const MemoryReport& report, const trace::Trace& trace, std::size_t top,
                    std::size_t width) {
  const Memory& memory = report.memory;
  std::string text = "\n" + headline(report, trace) + "\n";
  const MemoryStory story = memory_story(memory, trace);
  text += "  " + story.headline + "\n";
  if (!story.detail.empty()) text += "  " + story.detail + "\n";
  for (const DeviceMemory& device : memory.devices) {
    text += device_chart(device, memory, width);
    text += use_table("alive at the peak", device.at_peak, device.unknown_at_peak, top, width);
    text += use_table("alive at the end", device.leaks, device.unknown_at_end, top, width);
    text += role_table(device, width);
    text += facts(device);
  }
  if (!memory.rss.empty()) {
    std::vector<ChartLevel> rss;
    for (const analyze::HostSample& sample : memory.rss) {
      rss.push_back({sample.time_ns, sample.bytes});
    }
    text += chart("host", rss, {}, memory, 2, width);
  }
  return text + "\n";
}

}  // namespace fathom::report
