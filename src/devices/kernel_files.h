#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/backend.h"

// Small files of /sys and /proc. What cannot be read or is not a number is absent.
namespace fathom::devices {

std::optional<std::string> read_bytes(const std::string& path);  // at most 64 KB and a little
std::optional<std::string> read_text(const std::string& path);  // without the line break at its end
std::optional<std::int64_t> read_number(const std::string& path);
std::string link_name(const std::string& path);  // the last part of where a link leads; may be ""
std::vector<std::string> names_in(const std::string& folder);  // sorted

// Whether the PCI device of this folder sleeps, which must be asked before anything else: most
// other questions wake it.
bool is_suspended(const std::string& pci_folder);

// Decimal digits at the start of `text`; nothing where there are none or too many.
std::optional<std::int64_t> parse_number(std::string_view text);

// Name, command and start of a process, where we may see them.
GpuProcess describe_process(const Roots& roots, std::int64_t pid);
std::optional<std::uint64_t> start_ticks(const Roots& roots, std::int64_t pid);
std::uint64_t parse_start_ticks(std::string_view stat);  // 0 where it is not there

// By memory, most first; then by pid.
void sort_processes(std::vector<GpuProcess>& processes);

}  // namespace fathom::devices
