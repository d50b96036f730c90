#include "cli/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

namespace fathom::cli {
namespace {

constexpr std::string_view kPlaceOfAddress = "%s";

// Whoever starts a browser that runs already hands it the address and ends; a new one stays.
constexpr auto kTimeToFail = std::chrono::milliseconds(1500);
constexpr auto kBetweenLooks = std::chrono::milliseconds(10);

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, mark);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string address_of(const std::filesystem::path& page) {
  std::string address = "file://";
  for (const char c : std::filesystem::absolute(page).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain =
        std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos;
    address += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return address;
}

// The words of a browser with the address in its place, or at their end.
std::vector<std::string> words_of(const std::string& browser, const std::string& address) {
  std::vector<std::string> words = split(browser, ' ');
  bool has_place = false;
  for (std::string& word : words) {
    const std::size_t at = word.find(kPlaceOfAddress);
    if (at == std::string::npos) continue;
    word.replace(at, kPlaceOfAddress.size(), address);
    has_place = true;
  }
  if (!has_place) words.push_back(address);
  return words;
}

// Its chatter is not ours, and Ctrl-C in our terminal does not end it.
bool starts(std::vector<std::string> words) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, standard, "/dev/null",
                                     standard == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  }
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const bool is_started =
      posix_spawnp(&child, arguments[0], &files, &how, arguments.data(), environ) == 0;
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (!is_started) return false;
  const auto until = std::chrono::steady_clock::now() + kTimeToFail;
  while (std::chrono::steady_clock::now() < until) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0) return true;  // somebody else waits for our children
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

}  // namespace

Shown show_in_browser(const std::filesystem::path& page) {
  const std::string named = variable("BROWSER");
  const std::string address = address_of(page);
  for (const std::string& browser : split(named, ':')) {
    const std::vector<std::string> words = words_of(browser, address);
    if (words.front() != address && starts(words))
      return {.is_open = true, .in = words.front(), .why_not = {}};
  }
  if (!named.empty())
    return {
        .is_open = false, .in = {}, .why_not = fmt::format("$BROWSER ({}) did not start", named)};
  if (variable("DISPLAY").empty() && variable("WAYLAND_DISPLAY").empty()) {
    return {.is_open = false, .in = {}, .why_not = "no display and no $BROWSER"};
  }
  if (starts({"xdg-open", address})) return {.is_open = true, .in = "xdg-open", .why_not = {}};
  return {.is_open = false, .in = {}, .why_not = "xdg-open did not start a browser"};
}

}  // namespace fathom::cli
