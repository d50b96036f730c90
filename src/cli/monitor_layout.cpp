#include "cli/monitor_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/format.h"
#include "cli/monitor_parts.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kColumnsPerBlock = 80;  // from twice that on, blocks stand side by side
constexpr std::size_t kAlertLines = 4;
constexpr std::size_t kPastAlertLines = 12;
constexpr std::size_t kFewestProcesses = 3;

std::string_view name_of(ProcessOrder order) {
  constexpr std::array<std::string_view, 4> kNames = {"memory", "utilisation", "pid", "name"};
  return kNames[static_cast<std::size_t>(order)];
}

void append(std::vector<ScreenLine>& lines, std::vector<ScreenLine> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

ScreenLine header_line(const MonitorScene& scene, std::size_t columns) {
  std::vector<std::string> parts;
  const std::size_t count = scene.now.devices.size();
  if (scene.config.demo) {  // however narrow it is, nobody takes the demo for real
    parts.emplace_back(columns >= kNarrow ? "demo: these GPUs do not exist" : "demo, no real GPUs");
  }
  parts.push_back(base::format_plural(count, "GPU", "GPUs"));
  if (!scene.recording_to.empty()) parts.push_back("recording to " + scene.recording_to);
  parts.push_back(scene.clock);
  ScreenLine line = {{"fathom monitor", Ink::strong}};
  std::size_t used = base::display_width(line[0].text);
  for (const std::string& part : parts) {
    const std::string text = " · " + base::fit(part, columns);
    const std::size_t width = base::display_width(text);
    if (part.empty() || used + width > columns) continue;
    used += width;
    line.push_back({text, scene.config.demo && &part == parts.data() ? Ink::warning : Ink::faint});
  }
  return line;
}

ScreenLine keys_line(const MonitorView& view, std::size_t columns) {
  if (view.is_typing_filter) {
    return {{base::fit("filter: " + view.filter + "_   Enter keeps it, Esc drops it", columns),
             Ink::strong}};
  }
  const bool is_narrow = columns < kNarrow;
  std::string text = is_narrow ? "q quit  s sort  / filter"
                               : fmt::format("q quit  s sort: {}  / filter", name_of(view.order));
  if (!view.filter.empty()) text += ": " + view.filter;
  text += is_narrow ? "  ? keys" : "  a past alerts  ? keys";
  return {{base::fit(text, columns), Ink::faint}};
}

std::vector<ScreenLine> help_lines(std::size_t columns) {
  constexpr std::array<std::string_view, 8> kHelp = {
      "q          quit",
      "s          sort programs by memory, utilisation, pid or name",
      "/          show only programs whose name or command has this text",
      "a          alerts that are over, too",
      "up, down   other GPUs, where they do not all fit",
      "?, h       these keys",
      "",
      "Nothing here stops a program or changes a GPU."};
  std::vector<ScreenLine> lines;
  for (const std::string_view text : kHelp) {
    lines.push_back({{base::fit(text, columns), Ink::plain}});
  }
  return lines;
}

std::vector<ScreenLine> no_gpu_lines(const MonitorScene& scene, std::size_t columns) {
  std::vector<ScreenLine> lines = {{{"No GPU was found.", Ink::strong}}, {}};
  for (const BackendHealth& backend : scene.backends) {
    if (!backend.problem.empty()) {
      lines.push_back({{base::fit(backend.name + ": " + backend.problem, columns), Ink::plain}});
    }
  }
  const std::string again = fmt::format("Fathom looks again every {:g} s.",
                                        scene.config.device_discovery_interval_seconds);
  lines.push_back({{base::fit(again, columns), Ink::faint}});
  lines.push_back(
      {{base::fit("To see what it shows: fathom monitor --demo", columns), Ink::faint}});
  return lines;
}

std::size_t blocks_abreast(const MonitorScene& scene, std::size_t columns) {
  return std::clamp<std::size_t>(columns / kColumnsPerBlock, 1, scene.now.devices.size());
}

// Blocks of GPUs, in as many columns as there is room for.
std::vector<ScreenLine> gpu_lines(const MonitorScene& scene, const MonitorView& view,
                                  BlockSize size, std::size_t columns, std::size_t most_rows,
                                  bool is_airy) {
  const std::vector<GpuDevice>& devices = scene.now.devices;
  const std::size_t abreast = blocks_abreast(scene, columns);
  const std::size_t width = abreast == 1 ? columns : (columns - 3 * (abreast - 1)) / abreast;
  const std::size_t height = static_cast<std::size_t>(size);
  const std::size_t all_rows = (devices.size() + abreast - 1) / abreast;
  std::size_t rows = all_rows;
  if (rows * height > most_rows) rows = (most_rows > 0 ? most_rows - 1 : 0) / height;
  const std::size_t first = std::min(view.first_gpu / abreast, all_rows - rows);
  std::vector<ScreenLine> lines;
  for (std::size_t row = first; row < first + rows; ++row) {
    if (is_airy && row > first) lines.emplace_back();
    std::vector<ScreenLine> joined(height);
    for (std::size_t column = 0; column < abreast; ++column) {
      const std::size_t place = row * abreast + column;
      if (place >= devices.size()) break;
      const std::vector<ScreenLine> block = gpu_block(devices[place], scene, size, width);
      for (std::size_t i = 0; i < height; ++i) {
        if (column > 0) pad(joined[i], column * (width + 3));
        joined[i].insert(joined[i].end(), block[i].begin(), block[i].end());
      }
    }
    lines.insert(lines.end(), joined.begin(), joined.end());
  }
  if (rows < all_rows) {
    const std::size_t hidden = devices.size() - std::min(devices.size(), rows * abreast);
    lines.push_back(
        {{base::fit(fmt::format("… {} more (up, down)", hidden), columns), Ink::faint}});
  }
  return lines;
}

// The newest first. Where they do not all fit, causes are left out, then those that remain are
// counted.
std::vector<ScreenLine> alert_lines(const MonitorScene& scene, const MonitorView& view,
                                    std::size_t columns) {
  std::vector<std::vector<ScreenLine>> alerts;
  std::size_t with_causes = 0;
  for (auto alert = scene.alerts.rbegin(); alert != scene.alerts.rend(); ++alert) {
    if (alert->cleared_ns && !view.shows_past_alerts) continue;
    alerts.push_back(lines_of_alert(*alert, scene.now.devices, columns));
    with_causes += alerts.back().size();
  }
  const std::size_t most = view.shows_past_alerts ? kPastAlertLines : kAlertLines;
  const std::size_t shown = alerts.size() <= most ? alerts.size() : most - 1;
  std::vector<ScreenLine> lines;
  for (std::size_t i = 0; i < shown; ++i) {
    if (with_causes > most) alerts[i].resize(1);
    append(lines, std::move(alerts[i]));
  }
  if (shown < alerts.size()) {
    const std::string left =
        base::format_plural(alerts.size() - shown, "more alert", "more alerts");
    lines.push_back({{base::fit("… " + left, columns), Ink::warning}});
  }
  return lines;
}

std::size_t rows_of_blocks(const MonitorScene& scene, std::size_t columns) {
  const std::size_t abreast = blocks_abreast(scene, columns);
  return (scene.now.devices.size() + abreast - 1) / abreast;
}

BlockSize block_size(const MonitorScene& scene, std::size_t columns, std::size_t rows,
                     std::size_t other_rows) {
  if (scene.utilization.empty()) return BlockSize::bars;  // one look has no past
  const std::size_t block_rows = rows_of_blocks(scene, columns);
  for (const BlockSize size : {BlockSize::full, BlockSize::half}) {
    if (rows == 0 || block_rows * static_cast<std::size_t>(size) + other_rows <= rows) return size;
  }
  return BlockSize::line;
}

}  // namespace

std::vector<ScreenLine> monitor_lines(const MonitorScene& scene, const MonitorView& view,
                                      std::size_t columns, std::size_t rows) {
  std::vector<ScreenLine> lines = {header_line(scene, columns)};
  const bool is_screen = rows > 0;
  // Header and keys with a blank line each, where there is room for those.
  const std::size_t frame = rows >= 16 || !is_screen ? 4 : 2;
  if (frame == 4) lines.emplace_back();
  const std::size_t room = is_screen ? rows - std::min(rows, frame) : 0;
  if (view.shows_keys) {
    append(lines, help_lines(columns));
  } else if (scene.now.devices.empty()) {
    append(lines, no_gpu_lines(scene, columns));
  } else {
    const std::vector<ScreenLine> alerts = alert_lines(scene, view, columns);
    const std::size_t alert_rows = alerts.empty() ? 0 : alerts.size() + 1;
    const std::vector<ProcessRow> processes = process_rows(scene.now.devices, view);
    const std::size_t process_room =
        processes.empty() ? 0 : std::min(processes.size(), kFewestProcesses) + 2;
    const BlockSize size = block_size(scene, columns, room, alert_rows + process_room);
    const std::size_t gpu_room = is_screen ? room - std::min(room, alert_rows) : SIZE_MAX;
    const std::size_t block_rows = rows_of_blocks(scene, columns);
    const bool is_airy = size == BlockSize::full &&
                         (!is_screen || 5 * block_rows + alert_rows + processes.size() + 2 <= room);
    append(lines, gpu_lines(scene, view, size, columns, gpu_room, is_airy));
    if (!alerts.empty()) {
      lines.emplace_back();
      append(lines, alerts);
    }
    const std::size_t used = lines.size() + (frame == 4 ? 2 : 1);
    const std::size_t left = is_screen ? rows - std::min(rows, used) : processes.size() + 2;
    const bool has_list = !processes.empty() || !view.filter.empty() || view.is_typing_filter;
    if (left > 2 && has_list) {
      lines.emplace_back();
      append(lines, process_lines(processes, view, columns, left - 1));
    }
  }
  if (!is_screen) return lines;
  lines.resize(std::min(lines.size(), rows - 1));
  while (lines.size() + 1 < rows) lines.emplace_back();
  lines.push_back(keys_line(view, columns));
  return lines;
}

std::string plain_text(const std::vector<ScreenLine>& lines) {
  std::string text;
  for (const ScreenLine& line : lines) {
    std::string row;
    for (const Piece& piece : line) row += piece.text;
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

bool press(MonitorView& view, int key) {
  if (view.is_typing_filter) {
    if (key == kKeyEnter || key == '\r') {
      view.is_typing_filter = false;
    } else if (key == kKeyEscape) {
      view.is_typing_filter = false;
      view.filter.clear();
    } else if (key == kKeyBackspace || key == '\b') {
      if (!view.filter.empty()) view.filter.pop_back();
    } else if (key >= ' ' && key < 127 && view.filter.size() < 100) {
      view.filter += static_cast<char>(key);
    }
    return true;
  }
  switch (key) {
    case 'q':
      return false;
    case kKeyEscape:
      view.shows_keys = false;
      break;
    case '?':
    case 'h':
      view.shows_keys = !view.shows_keys;
      break;
    case 's':
      view.order = static_cast<ProcessOrder>((static_cast<int>(view.order) + 1) % 4);
      break;
    case '/':
      view.is_typing_filter = true;
      break;
    case 'a':
      view.shows_past_alerts = !view.shows_past_alerts;
      break;
    case kKeyUp:
      view.first_gpu -= view.first_gpu > 0 ? 1 : 0;
      break;
    case kKeyDown:
      ++view.first_gpu;
      break;
    default:
      break;
  }
  return true;
}

}  // namespace fathom::cli
