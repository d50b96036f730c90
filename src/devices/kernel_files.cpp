#include "devices/kernel_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>

namespace fathom::devices {

std::optional<std::string> read_bytes(const std::string& path) {
  // A FIFO in its place must not hang us.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  constexpr std::size_t kMost = 1 << 16;
  std::array<char, 4096> piece;
  std::string text;
  ssize_t got = 0;
  while (text.size() < kMost && (got = ::read(file, piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  if (got < 0) return {};
  return text;
}

std::optional<std::string> read_text(const std::string& path) {
  std::optional<std::string> text = read_bytes(path);
  while (text && !text->empty() && text->back() == '\n') text->pop_back();
  return text;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return {};
  return number;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const std::optional<std::string> text = read_text(path);
  return text ? parse_number(*text) : std::nullopt;
}

std::string link_name(const std::string& path) {
  std::array<char, 4096> target;
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) return {};
  const std::string_view whole(target.data(), static_cast<std::size_t>(length));
  return std::string(whole.substr(whole.rfind('/') + 1));
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return names;
  while (const dirent* const entry = ::readdir(open.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

bool is_suspended(const std::string& pci_folder) {
  const std::string status = read_text(pci_folder + "/power/runtime_status").value_or("");
  return status == "suspended" || status == "suspending";
}

std::uint64_t parse_start_ticks(std::string_view stat) {
  // The second field is a name in parentheses, which may hold anything.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return 0;
  std::size_t place = name_end + 1;
  for (int field = 3; field <= 22; ++field) {
    place = stat.find_first_not_of(' ', place);
    if (place == std::string_view::npos) return 0;
    if (field == 22) break;
    place = stat.find(' ', place);
    if (place == std::string_view::npos) return 0;
  }
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, parse_number(stat.substr(place)).value_or(0)));
}

std::optional<std::uint64_t> start_ticks(const Roots& roots, std::int64_t pid) {
  const std::optional<std::string> stat = read_text(fmt::format("{}/{}/stat", roots.proc, pid));
  if (!stat) return {};
  return parse_start_ticks(*stat);
}

GpuProcess describe_process(const Roots& roots, std::int64_t pid) {
  const std::string folder = fmt::format("{}/{}", roots.proc, pid);
  GpuProcess process{.pid = pid, .start_ticks = start_ticks(roots, pid).value_or(0)};
  process.command = read_text(folder + "/cmdline").value_or("");
  while (!process.command.empty() && process.command.back() == '\0') process.command.pop_back();
  const std::string_view first =
      std::string_view(process.command).substr(0, process.command.find('\0'));
  process.name = first.substr(first.rfind('/') + 1);
  std::ranges::replace(process.command, '\0', ' ');
  if (process.name.empty()) process.name = read_text(folder + "/comm").value_or("");
  return process;
}

void sort_processes(std::vector<GpuProcess>& processes) {
  std::ranges::sort(processes, [](const GpuProcess& a, const GpuProcess& b) {
    const std::int64_t of_a = a.memory_bytes.value_or(-1);
    const std::int64_t of_b = b.memory_bytes.value_or(-1);
    return of_a != of_b ? of_a > of_b : a.pid < b.pid;
  });
}

}  // namespace fathom::devices
