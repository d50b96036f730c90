#include "devices/drm_processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <utility>

#include "devices/kernel_files.h"

namespace fathom::devices {
namespace {

constexpr unsigned kLooksBetween = 4;  // of DrmProcessSweep::Passed

std::vector<std::int64_t> pids(const Roots& roots) {
  std::vector<std::int64_t> all;
  for (const std::string& name : names_in(roots.proc)) {
    std::int64_t pid = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (problem == std::errc{} && end == name.data() + name.size()) all.push_back(pid);
  }
  std::ranges::sort(all);
  return all;
}

// "renderD128", of a descriptor that is /dev/dri/renderD128.
std::string node_of(const std::string& descriptor) {
  constexpr std::string_view kFolder = "/dev/dri/";
  std::string target(64, '\0');
  const ssize_t length = ::readlink(descriptor.c_str(), target.data(), target.size());
  if (length <= 0) return {};
  target.resize(static_cast<std::size_t>(length));
  return target.starts_with(kFolder) ? target.substr(kFolder.size()) : "";
}

std::optional<double> held(std::optional<double>& highest, std::optional<double> counter) {
  if (counter && (!highest || *counter > *highest)) highest = counter;
  return highest;
}

}  // namespace

// One descriptor of one program. Copies of a descriptor, in children too, are the same client,
// which counts once: with the program of the lowest pid, which had it first.
void DrmProcessSweep::take(const DrmCard& card, std::int64_t pid, const DrmClient& client,
                           Time now) {
  const ClientKey key{card.pci_address, client.id.value_or(0), client.id ? 0 : pid};
  if (!seen_.insert(key).second) return;
  Use& use = uses_[{card.pci_address, pid}];
  if (client.device_bytes) use.bytes = use.bytes.value_or(0) + *client.device_bytes;
  if (client.host_bytes && (card.shares_memory_of_host || !client.device_bytes)) {
    use.bytes = use.bytes.value_or(0) + *client.host_bytes;
  }
  for (const auto& [name, engine] : client.engines) {
    EngineRates& rates = rates_[{key, name}];
    rates.is_seen = true;
    const std::optional<double> ns =
        rates.time.of(held(rates.highest.busy_ns, engine.busy_ns), now);
    const std::optional<double> cycles =
        rates.cycles.of(held(rates.highest.busy_cycles, engine.busy_cycles), now);
    const std::optional<double> total =
        rates.total_cycles.of(held(rates.highest.total_cycles, engine.total_cycles), now);
    std::optional<double> share;
    if (ns) share = *ns * 1e-9;
    if (!ns && cycles && total) share = *total > 0 ? *cycles / *total : 0;
    if (share) use.busy_percent[name] += 100 * *share / engine.capacity;
  }
}

void DrmProcessSweep::look_into(const Roots& roots, std::int64_t pid,
                                const std::map<std::string, const DrmCard*>& by_node, Time now) {
  Passed& passed = passed_[pid];
  if (passed.looks_left > 0) {
    --passed.looks_left;
    return;
  }
  const std::string folder = fmt::format("{}/{}", roots.proc, pid);
  const std::vector<std::string> descriptors = names_in(folder + "/fd");
  passed.is_refused =
      descriptors.empty() && ::access((folder + "/fd").c_str(), R_OK) != 0 && errno == EACCES;
  bool has_gpu = false;
  for (const std::string& descriptor : descriptors) {
    const auto card = by_node.find(node_of(folder + "/fd/" + descriptor));
    if (card == by_node.end()) continue;
    has_gpu = true;
    const std::optional<std::string> text = read_text(folder + "/fdinfo/" + descriptor);
    const std::optional<DrmClient> client = text ? parse_fdinfo(*text) : std::nullopt;
    if (client) take(*card->second, pid, *client, now);
  }
  if (!has_gpu) passed.looks_left = kLooksBetween;
}

DrmProcesses DrmProcessSweep::look(const Roots& roots, const std::vector<DrmCard>& cards,
                                   Time now) {
  std::map<std::string, const DrmCard*> by_node;
  for (const DrmCard& card : cards) {
    for (const std::string& node : card.nodes) by_node[node] = &card;
  }
  DrmProcesses found;
  if (by_node.empty()) return found;
  const std::vector<std::int64_t> all = pids(roots);
  std::erase_if(passed_,
                [&](const auto& each) { return !std::ranges::binary_search(all, each.first); });
  for (const std::int64_t pid : all) look_into(roots, pid, by_node, now);
  for (const auto& [card_and_pid, use] : std::exchange(uses_, {})) {
    GpuProcess process = described_.describe(roots, card_and_pid.second);
    process.memory_bytes = use.bytes;
    for (const auto& [engine, percent] : use.busy_percent) {
      process.utilization_percent =
          std::max(process.utilization_percent.value_or(0), std::min(100.0, percent));
    }
    found.of_card[card_and_pid.first].push_back(std::move(process));
  }
  for (auto& [card, processes] : found.of_card) sort_processes(processes);
  found.are_partial =
      std::ranges::any_of(passed_, [](const auto& each) { return each.second.is_refused; });
  seen_.clear();
  for (auto each = rates_.begin(); each != rates_.end();) {
    each = std::exchange(each->second.is_seen, false) ? std::next(each) : rates_.erase(each);
  }
  described_.end_look();
  return found;
}

}  // namespace fathom::devices
