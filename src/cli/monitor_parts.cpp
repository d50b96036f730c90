#include "cli/monitor_parts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>

#include "base/format.h"
#include "monitor/alert_words.h"
#include "monitor/redact.h"
#include "report/text/bar.h"

namespace fathom::cli {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

std::size_t width_of(const ScreenLine& line) {
  std::size_t width = 0;
  for (const Piece& piece : line) width += base::display_width(piece.text);
  return width;
}

std::optional<double> memory_percent(const GpuDevice& device) {
  if (!device.now.memory_used_bytes || device.memory_total_bytes.value_or(0) <= 0) return {};
  return 100.0 * static_cast<double>(*device.now.memory_used_bytes) /
         static_cast<double>(*device.memory_total_bytes);
}

Ink ink_of(std::optional<double> value, double warning, double critical) {
  if (!value || *value < warning) return Ink::plain;
  return *value < critical ? Ink::warning : Ink::critical;
}

std::string percent_text(std::optional<double> percent) {
  return percent ? fmt::format("{:3.0f} %", *percent) : "  – ";
}

std::string state_text(DeviceState state) {
  switch (state) {
    case DeviceState::ok:
      return "";
    case DeviceState::suspended:
      return "asleep; it is not woken to be asked";
    case DeviceState::lost:
      return "lost: it does not answer any more";
    case DeviceState::no_permission:
      return "its driver refuses to tell of it";
  }
  return "";
}

// A driver that hangs leaves the figures as they were: nobody should take them for those of now.
std::optional<Piece> age_of(const GpuDevice& device, const MonitorConfig& config) {
  const double age = device.age_seconds.value_or(0);
  if (device.state != DeviceState::ok ||
      age <= std::max(3.0, 3 * config.monitoring_interval_seconds))
    return {};
  return Piece{fmt::format("{:.0f} s old", age), Ink::warning};
}

// What does not fit goes from the end.
std::vector<Piece> facts_of(const GpuDevice& device, const MonitorConfig& config) {
  const GpuReading& now = device.now;
  if (device.state != DeviceState::ok) {
    return {
        {state_text(device.state), device.state == DeviceState::lost ? Ink::critical : Ink::faint}};
  }
  std::vector<Piece> facts;
  if (auto age = age_of(device, config)) facts.push_back(std::move(*age));
  if (device.needs_reset) facts.push_back({"needs a reset", Ink::critical});
  const std::uint32_t reasons = now.throttle.value_or(0) & monitor::kAlarmingReasons;
  if (now.temperature_celsius) {
    facts.push_back({fmt::format("{:.0f} °C", *now.temperature_celsius),
                     ink_of(now.temperature_celsius, config.temperature_warning_celsius,
                            config.temperature_critical_celsius)});
  }
  if (reasons != 0) {
    facts.push_back({"slowed: " + monitor::alarming_reasons(reasons), Ink::critical});
  }
  if (now.power_watts) {
    facts.push_back({device.power_limit_watts ? fmt::format("{:.0f} of {:.0f} W", *now.power_watts,
                                                            *device.power_limit_watts)
                                              : fmt::format("{:.0f} W", *now.power_watts)});
  }
  if (now.core_clock_hz) facts.push_back({fmt::format("{:.0f} MHz", *now.core_clock_hz / 1e6)});
  if (now.fan_percent) facts.push_back({fmt::format("fan {:.0f} %", *now.fan_percent)});
  return facts;
}

ScreenLine title_line(const GpuDevice& device, const MonitorConfig& config, std::size_t width) {
  const std::size_t least_name = width < kNarrow ? 12 : 26;
  constexpr std::string_view kBetween = "  ";
  std::vector<Piece> facts = facts_of(device, config);
  std::size_t needed = 0;
  std::size_t kept = 0;
  for (const Piece& fact : facts) {
    const std::size_t more = kBetween.size() + base::display_width(fact.text);
    if (needed + more + least_name > width) break;
    needed += more;
    ++kept;
  }
  if (kept == 0 && !facts.empty()) {  // one at least, cut
    facts[0].text = base::fit(facts[0].text, width > least_name + 2 ? width - least_name - 2 : 0);
    needed = kBetween.size() + base::display_width(facts[0].text);
    kept = 1;
  }
  const std::size_t room = width - std::min(width, needed);
  ScreenLine line = {
      {base::fit(fmt::format("{} {}", device.index, device.name), room), Ink::strong}};
  pad(line, room);
  for (std::size_t i = 0; i < kept; ++i) {
    line.push_back({std::string(kBetween)});
    line.push_back(std::move(facts[i]));
  }
  return line;
}

// "GPU ██████▌      78 %".
ScreenLine bar_line(const char* label, std::optional<double> percent, Ink ink, std::string after,
                    std::size_t width) {
  const std::string figure = " " + percent_text(percent) + after;
  const std::size_t taken = 4 + base::display_width(figure);
  const std::size_t columns = width > taken ? width - taken : 0;
  ScreenLine line = {{fmt::format("{:<4}", label), Ink::faint}};
  line.push_back({report::bar(std::clamp(percent.value_or(0) / 100, 0.0, 1.0), columns),
                  ink == Ink::plain ? Ink::good : ink});
  line.push_back({figure, ink});
  return line;
}

std::string memory_text(const GpuDevice& device) {
  if (!device.now.memory_used_bytes || !device.memory_total_bytes) return {};
  return fmt::format("  {:.1f} of {:.1f} GB",
                     static_cast<double>(*device.now.memory_used_bytes) / kGib,
                     static_cast<double>(*device.memory_total_bytes) / kGib);
}

std::string span_text(double seconds) {
  return seconds < 120 ? fmt::format("last {:.0f} s", seconds)
                       : fmt::format("last {:.0f} min", seconds / 60);
}

ScreenLine past_line(const GpuDevice& device, const MonitorScene& scene, std::size_t width,
                     std::size_t after) {
  const auto known = scene.utilization.find(device.uuid);
  if (known == scene.utilization.end()) return {};
  const std::size_t columns = width > 4 + after ? width - 4 - after : 0;
  const std::size_t shown = std::min(columns, known->second.size());
  ScreenLine line = {{"    "}, {history_line(known->second, columns), Ink::good}};
  const std::string label =
      " " + span_text(static_cast<double>(shown) * scene.config.monitoring_interval_seconds);
  if (width_of(line) + label.size() <= width) line.push_back({label, Ink::faint});
  return line;
}

ScreenLine short_line(const GpuDevice& device, const MonitorConfig& config, std::size_t width) {
  ScreenLine figures;
  if (device.state != DeviceState::ok) {
    figures = facts_of(device, config);
  } else {
    const auto memory = memory_percent(device);
    if (auto age = age_of(device, config)) figures = {std::move(*age), {"  "}};
    if (device.needs_reset) figures.push_back({"needs a reset  ", Ink::critical});
    figures.push_back({"GPU " + percent_text(device.now.utilization_percent)});
    figures.push_back({"  mem "});
    figures.push_back({percent_text(memory), ink_of(memory, config.memory_warning_percent,
                                                    config.memory_critical_percent)});
    const auto celsius = device.now.temperature_celsius;
    if (celsius) {
      figures.push_back({fmt::format("  {:3.0f} °C", *celsius),
                         ink_of(celsius, config.temperature_warning_celsius,
                                config.temperature_critical_celsius)});
    }
  }
  const std::size_t needed = width_of(figures) + 1;
  const std::size_t room = width - std::min(width, needed);
  if (room < 4) return {{base::fit(fmt::format("{} {}", device.index, device.name), width)}};
  ScreenLine line = {
      {base::fit(fmt::format("{} {}", device.index, device.name), room), Ink::strong}};
  pad(line, room + 1);
  line.insert(line.end(), figures.begin(), figures.end());
  return line;
}

bool matches(const GpuProcess& process, const std::string& filter) {
  return process.name.find(filter) != std::string::npos ||
         process.command.find(filter) != std::string::npos ||
         std::to_string(process.pid).find(filter) != std::string::npos;
}

std::string clock_of(std::int64_t time_ns) {
  return fmt::format("{:%H:%M:%S}",
                     fmt::localtime(static_cast<std::time_t>(time_ns / 1'000'000'000)));
}

}  // namespace

void pad(ScreenLine& line, std::size_t columns) {
  const std::size_t width = width_of(line);
  if (width < columns) line.push_back({std::string(columns - width, ' ')});
}

std::string history_line(const std::vector<std::optional<double>>& values, std::size_t columns) {
  constexpr std::array<std::string_view, 8> kSteps = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  const std::size_t first = values.size() - std::min(values.size(), columns);
  for (std::size_t i = first; i < values.size(); ++i) {
    if (!values[i]) {
      text += ' ';
      continue;
    }
    const double step = std::clamp(*values[i] / 100 * 8, 0.0, 7.0);
    text += kSteps[static_cast<std::size_t>(step)];
  }
  return text;
}

std::vector<ScreenLine> gpu_block(const GpuDevice& device, const MonitorScene& scene,
                                  BlockSize size, std::size_t width) {
  const MonitorConfig& config = scene.config;
  if (size == BlockSize::line) return {short_line(device, config, width)};
  std::vector<ScreenLine> lines = {title_line(device, config, width)};
  const auto memory = memory_percent(device);
  const Ink memory_ink =
      ink_of(memory, config.memory_warning_percent, config.memory_critical_percent);
  if (device.state != DeviceState::ok) {
    // Nothing to show; the lines stay, so that the others do not jump.
  } else if (size == BlockSize::half) {
    ScreenLine line =
        bar_line("GPU", device.now.utilization_percent, Ink::plain, "", (width - 2) / 2);
    pad(line, (width - 2) / 2 + 2);
    const ScreenLine right = bar_line("mem", memory, memory_ink, "", (width - 2) / 2);
    line.insert(line.end(), right.begin(), right.end());
    lines.push_back(std::move(line));
  } else {
    // Both bars of one length, so that they can be compared.
    const std::string after = width >= 56 ? memory_text(device) : "";
    const std::string blank(base::display_width(after), ' ');
    lines.push_back(bar_line("GPU", device.now.utilization_percent, Ink::plain, blank, width));
    lines.push_back(bar_line("mem", memory, memory_ink, after, width));
    lines.push_back(past_line(device, scene, width, 6 + blank.size()));
  }
  lines.resize(static_cast<std::size_t>(size));
  return lines;
}

std::vector<ProcessRow> process_rows(const std::vector<GpuDevice>& devices,
                                     const MonitorView& view) {
  std::vector<ProcessRow> rows;
  for (const GpuDevice& device : devices) {
    for (const GpuProcess& process : device.processes) {
      rows.push_back({device.index, process});
      rows.back().process.command = monitor::redacted(process.command);
      if (!matches(rows.back().process, view.filter)) rows.pop_back();
    }
  }
  std::ranges::stable_sort(rows, [&](const ProcessRow& a, const ProcessRow& b) {
    switch (view.order) {
      case ProcessOrder::memory:
        return a.process.memory_bytes.value_or(-1) > b.process.memory_bytes.value_or(-1);
      case ProcessOrder::utilization:
        return a.process.utilization_percent.value_or(-1) >
               b.process.utilization_percent.value_or(-1);
      case ProcessOrder::pid:
        return a.process.pid < b.process.pid;
      case ProcessOrder::name:
        return a.process.name < b.process.name;
    }
    return false;
  });
  return rows;
}

std::vector<ScreenLine> process_lines(const std::vector<ProcessRow>& rows, const MonitorView& view,
                                      std::size_t columns, std::size_t most) {
  const bool is_narrow = columns < kNarrow;
  const auto line_of = [&](auto pid, auto gpu, const std::string& memory, const std::string& use,
                           const std::string& program) {
    return base::fit(
        is_narrow ? fmt::format("{:>7} {:>3} {:>8} {}", pid, gpu, memory, program)
                  : fmt::format("{:>8}  {:>3}  {:>9}  {:>5}  {}", pid, gpu, memory, use, program),
        columns);
  };
  const std::string title = view.filter.empty() ? "program" : "program with '" + view.filter + "'";
  std::vector<ScreenLine> lines = {{{line_of("pid", "GPU", "memory", "use", title), Ink::faint}}};
  for (std::size_t i = 0; i < rows.size() && lines.size() < most; ++i) {
    const GpuProcess& process = rows[i].process;
    if (lines.size() + 1 == most && i + 1 < rows.size()) {
      lines.push_back(
          {{base::fit(fmt::format("… {} more", rows.size() - i), columns), Ink::faint}});
      break;
    }
    const std::string memory =
        process.memory_bytes ? base::format_bytes(static_cast<double>(*process.memory_bytes)) : "–";
    lines.push_back(
        {{line_of(process.pid, rows[i].gpu, memory, percent_text(process.utilization_percent),
                  process.command.empty() ? process.name : process.command)}});
  }
  return lines;
}

std::vector<ScreenLine> lines_of_alert(const Alert& alert, const std::vector<GpuDevice>& devices,
                                       std::size_t columns) {
  const bool is_critical = alert.severity == AlertSeverity::critical;
  const Ink ink = alert.cleared_ns ? Ink::faint : is_critical ? Ink::critical : Ink::warning;
  const auto device = std::ranges::find(devices, alert.uuid, &GpuDevice::uuid);
  const std::string who =
      device == devices.end() ? alert.device : fmt::format("GPU {}", device->index);
  std::string text = fmt::format("{} {}{}: {}", clock_of(alert.raised_ns),
                                 is_critical ? "critical: " : "", who, alert.message);
  if (alert.cleared_ns) text += fmt::format(" (over at {})", clock_of(*alert.cleared_ns));
  if (alert.cause.empty() || base::display_width(text + ". " + alert.cause) <= columns) {
    if (!alert.cause.empty()) text += ". " + alert.cause;
    return {{{base::fit(text, columns), ink}}};
  }
  return {{{base::fit(text, columns), ink}},
          {{base::fit("         " + alert.cause, columns), ink}}};
}

}  // namespace fathom::cli
