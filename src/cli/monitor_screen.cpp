#include "cli/monitor_screen.h"

#include <curses.h>

#include <chrono>
#include <clocale>
#include <cstdlib>
#include <utility>

#include "base/error.h"

// The one file that knows ncurses.
namespace fathom::cli {
namespace {

constexpr int kWaitMs = 200;  // for a key, before the next look at the clock

enum ColorPair : short { kGood = 1, kWarning = 2, kCritical = 3 };

// ncurses between its beginning and its end.
class Curses {
 public:
  Curses() {
    std::setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");  // bars are not ASCII
    screen_ = newterm(nullptr, stdout, stdin);
    if (screen_ == nullptr) {
      throw base::Error("terminal", "its type is not known",
                        "Set TERM, or use fathom monitor --once or --json");
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(25);
    timeout(kWaitMs);
    curs_set(0);
    if (has_colors()) {
      start_color();
      use_default_colors();
      init_pair(kGood, COLOR_GREEN, -1);
      init_pair(kWarning, COLOR_YELLOW, -1);
      init_pair(kCritical, COLOR_RED, -1);
    }
  }
  ~Curses() {
    endwin();
    delscreen(screen_);
  }
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;

 private:
  SCREEN* screen_;
};

attr_t attribute_of(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return A_NORMAL;
    case Ink::strong:
      return A_BOLD;
    case Ink::faint:
      return A_DIM;
    case Ink::good:
      return static_cast<attr_t>(COLOR_PAIR(kGood));
    case Ink::warning:
      return static_cast<attr_t>(COLOR_PAIR(kWarning)) | A_BOLD;
    case Ink::critical:
      return static_cast<attr_t>(COLOR_PAIR(kCritical)) | A_BOLD;
  }
  return A_NORMAL;
}

void draw(const std::vector<ScreenLine>& lines) {
  erase();
  for (std::size_t row = 0; row < lines.size(); ++row) {
    move(static_cast<int>(row), 0);
    for (const Piece& piece : lines[row]) {
      attrset(static_cast<int>(attribute_of(piece.ink)));
      addstr(piece.text.c_str());
    }
  }
  refresh();
}

int key_of(int code) {
  switch (code) {
    case KEY_UP:
      return kKeyUp;
    case KEY_DOWN:
      return kKeyDown;
    case KEY_BACKSPACE:
      return kKeyBackspace;
    case KEY_ENTER:
      return kKeyEnter;
    default:
      return code < 256 ? code : 0;
  }
}

}  // namespace

void show_on_terminal(const std::function<MonitorScene()>& scene,
                      const std::function<bool()>& is_over) {
  using Clock = std::chrono::steady_clock;
  const Curses curses;
  MonitorView view;
  MonitorScene now = scene();
  Clock::time_point due = Clock::now();
  while (!is_over()) {
    const auto interval = std::chrono::duration<double>(now.config.monitoring_interval_seconds);
    if (Clock::now() >= due) {
      now = scene();
      due = Clock::now() + std::chrono::duration_cast<Clock::duration>(interval);
    }
    draw(monitor_lines(now, view, static_cast<std::size_t>(COLS), static_cast<std::size_t>(LINES)));
    int code = ERR;
    do {
      code = getch();
    } while (code == ERR && Clock::now() < due && !is_over());
    if (code != ERR && code != KEY_RESIZE && !press(view, key_of(code))) return;
  }
}

}  // namespace fathom::cli
