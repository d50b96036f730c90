#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fathom/monitor.h"

// What `fathom monitor` shows, as text: a pure function of what is known, what the person chose and
// the size of the terminal.
namespace fathom::cli {

enum class Ink { plain, strong, faint, good, warning, critical };
struct Piece {
  std::string text;
  Ink ink = Ink::plain;
};
using ScreenLine = std::vector<Piece>;

struct MonitorScene {
  Snapshot now;
  // By uuid, oldest first; nothing where it was not known.
  std::map<std::string, std::vector<std::optional<double>>> utilization;
  std::vector<Alert> alerts;
  std::vector<BackendHealth> backends;
  // For its limits, the time between samples, and whether this is the demo.
  MonitorConfig config;
  std::string clock;  // "11:02:17"
  std::string recording_to;
};

enum class ProcessOrder { memory, utilization, pid, name };
struct MonitorView {
  ProcessOrder order = ProcessOrder::memory;
  std::string filter;
  bool is_typing_filter = false;
  bool shows_keys = false;
  bool shows_past_alerts = false;
  std::size_t first_gpu = 0;  // where they do not all fit
};

// At most `rows` lines of at most `columns` columns; all there is to show where `rows` is 0.
std::vector<ScreenLine> monitor_lines(const MonitorScene& scene, const MonitorView& view,
                                      std::size_t columns, std::size_t rows);

std::string plain_text(const std::vector<ScreenLine>& lines);

// What a key does; false where it ends the program.
bool press(MonitorView& view, int key);
// Keys that are not characters.
inline constexpr int kKeyUp = 0x110000;
inline constexpr int kKeyDown = 0x110001;
inline constexpr int kKeyEscape = 27;
inline constexpr int kKeyEnter = '\n';
inline constexpr int kKeyBackspace = 127;

}  // namespace fathom::cli
