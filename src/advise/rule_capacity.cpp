#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  The memory of a GPU is over 90 % full at the peak: what was allocated, or what the
//          allocator had reserved, as the source says.
// Edit     None: this costs no time until it fails.
namespace fathom::advise {
namespace {

constexpr double kFullShare = 0.9;

// By device: the most that the source says was allocated or reserved.
std::map<std::int64_t, std::int64_t> most_held(const trace::Trace& trace) {
  std::map<std::int64_t, std::int64_t> most;
  for (const trace::MemoryEvent& event : trace.memory) {
    if (event.device != trace::MemoryDevice::gpu) continue;
    std::int64_t& so_far = most[event.device_index];
    so_far =
        std::max({so_far, event.total_allocated.value_or(0), event.total_reserved.value_or(0)});
  }
  return most;
}

std::string capacity_hint(const Platform& platform) {
  const std::string hint = "fathom memory shows what holds it. Smaller batches";
  if (!platform.is_pytorch || !platform.trains) {
    return hint + " or chunks, and memory freed as soon as it is no longer needed.";
  }
  return hint +
         ", checkpointed activations, sharded optimizer states.\n"
         "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)";
}

}  // namespace

Candidates rule_capacity(const Facts& facts) {
  Candidates found;
  const std::map<std::int64_t, std::int64_t> most = most_held(facts.trace);
  for (const trace::DeviceInfo& device : facts.trace.run.devices) {
    const auto known = most.find(device.id);
    if (known == most.end() || device.memory_bytes.value_or(0) <= 0) continue;
    const auto size = static_cast<double>(*device.memory_bytes);
    const auto held = static_cast<double>(known->second);
    if (held < kFullShare * size) continue;
    Candidate one;
    one.words.rule = "capacity";
    one.words.type = SuggestionType::memory;
    one.words.operation = device.name;
    one.words.title = "Leave room in device memory";
    one.words.description = fmt::format(
        "{} of {} was in use at the peak ({}): a little more and allocations fail, or the "
        "allocator stops to defragment.",
        base::format_bytes(held), base::format_bytes(size),
        base::format_percent(held / size * 100));
    one.supposes = "Saves no time, but keeps the run from failing.";
    one.words.implementation_hint = capacity_hint(facts.platform);
    found.push_back(one);
  }
  return found;
}

}  // namespace fathom::advise
