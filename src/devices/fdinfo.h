#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// What the kernel says of a GPU that a program has open: /proc/PID/fdinfo/FD.
namespace fathom::devices {

// Work of one kind: counters that grow while it is done, by time or by cycles.
struct EngineUse {
  std::optional<double> busy_ns;
  std::optional<double> busy_cycles, total_cycles;
  double capacity = 1;  // how many there are that work at a time
};

struct DrmClient {
  std::string pci_address;                                // empty where old kernels do not tell
  std::optional<std::uint64_t> id;                        // the same for all copies of a descriptor
  std::map<std::string, EngineUse, std::less<>> engines;  // those that compute or draw
  std::optional<std::int64_t> device_bytes;               // in memory of the GPU
  std::optional<std::int64_t> host_bytes;                 // in memory of the host, for the GPU
};

// Nothing where it is not that of a GPU. Lines that mean nothing to us, or are damaged, are
// skipped.
std::optional<DrmClient> parse_fdinfo(std::string_view text);

}  // namespace fathom::devices
