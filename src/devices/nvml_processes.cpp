#include "devices/nvml_processes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "devices/kernel_files.h"

namespace fathom::devices::nvml {
namespace {

struct Used {
  std::uint32_t pid;
  std::optional<std::int64_t> bytes;
};

// The list may grow between the question how long it is and the list itself.
constexpr int kTries = 5;

std::vector<Used> list_of(const Library::Processes& function, Device device,
                          std::size_t element_bytes) {
  std::vector<std::byte> room;
  unsigned count = 0;
  int result = function(device, &count, nullptr);
  for (int tries = 0; result == kInsufficientSize && tries < kTries; ++tries) {
    count = 2 * count + 5;
    room.resize(count * kLongProcessBytes);  // enough, whichever element it is
    result = function(device, &count, room.data());
  }
  std::vector<Used> used;
  if (result != kSuccess) return used;
  count = std::min(count, static_cast<unsigned>(room.size() / kLongProcessBytes));
  for (unsigned i = 0; i < count; ++i) {
    ProcessV1 element;  // what all forms begin with
    std::memcpy(&element, room.data() + i * element_bytes, sizeof element);
    const bool is_known = element.used_bytes != kNone64;
    used.push_back({element.pid, is_known
                                     ? std::optional(static_cast<std::int64_t>(element.used_bytes))
                                     : std::nullopt});
  }
  return used;
}

}  // namespace

std::vector<GpuProcess> ProcessList::look(const Library& library, Device device,
                                          const Roots& roots) {
  std::map<std::int64_t, GpuProcess> processes;
  for (const Library::Processes* function :
       {&library.compute_processes, &library.graphics_processes, &library.mps_processes}) {
    for (const Used& used : list_of(*function, device, library.process_bytes)) {
      // A program may be in several of the lists.
      GpuProcess& process = processes[used.pid];
      process.pid = used.pid;
      if (used.bytes)
        process.memory_bytes = std::max(process.memory_bytes.value_or(0), *used.bytes);
    }
  }
  for (auto& [pid, process] : processes) {
    GpuProcess described = described_.describe(roots, pid);
    described.memory_bytes = process.memory_bytes;
    process = std::move(described);
  }
  add_utilization(library, device, processes);
  described_.end_look();
  std::vector<GpuProcess> all;
  for (const auto& [pid, process] : processes) all.push_back(process);
  sort_processes(all);
  return all;
}

// The newest sample of each program since the last look. Drivers are known to give garbage at
// times: shares over 100 %, and samples of the past.
void ProcessList::add_utilization(const Library& library, Device device,
                                  std::map<std::int64_t, GpuProcess>& processes) {
  if (processes.empty()) return;
  unsigned count = 0;
  int result = library.process_utilization(device, nullptr, &count, sampled_until_us_);
  std::vector<ProcessSample> samples;
  if (result == kInsufficientSize && count > 0) {
    samples.resize(count);
    result = library.process_utilization(device, samples.data(), &count, sampled_until_us_);
    samples.resize(std::min<std::size_t>(count, samples.size()));
  }
  if (result == kNotFound) samples.clear();  // nothing ran
  if (result != kSuccess && result != kNotFound) return;
  for (auto& [pid, process] : processes) process.utilization_percent = 0;
  std::map<std::int64_t, std::uint64_t> newest;
  for (const ProcessSample& sample : samples) {
    const bool is_sound = sample.sm_percent <= 100 && sample.memory_percent <= 100 &&
                          sample.timestamp_us > sampled_until_us_;
    const auto process = processes.find(sample.pid);
    if (!is_sound || process == processes.end()) continue;
    if (sample.timestamp_us < newest[sample.pid]) continue;
    newest[sample.pid] = sample.timestamp_us;
    process->second.utilization_percent = sample.sm_percent;
  }
  for (const auto& [pid, time] : newest) sampled_until_us_ = std::max(sampled_until_us_, time);
}

}  // namespace fathom::devices::nvml
