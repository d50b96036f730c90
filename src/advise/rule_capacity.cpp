#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "analyze/memory.h"
#include "base/format.h"

// Trigger  The memory of a GPU is over 90 % full at the peak: what was allocated, or what the
//          allocator had reserved.
// Edit     None: this costs no time until it fails.
namespace fathom::advise {
namespace {

constexpr double kFullShare = 0.9;

std::int64_t most_held(const analyze::DeviceMemory& device) {
  std::int64_t most = device.levels.empty() ? 0 : device.peak_bytes();
  for (const analyze::MemoryLevel& level : device.levels) {
    most = std::max(most, level.reserved.value_or(0));
  }
  return most;
}

}  // namespace

Candidates rule_capacity(const Facts& facts) {
  if (facts.trace.memory.empty()) return {};
  Candidates found;
  const analyze::Memory memory = analyze::memory(facts.trace);
  for (const analyze::DeviceMemory& device : memory.devices) {
    if (device.device != trace::MemoryDevice::gpu) continue;
    const auto known =
        std::find_if(facts.trace.run.devices.begin(), facts.trace.run.devices.end(),
                     [&](const trace::DeviceInfo& info) { return info.id == device.index; });
    if (known == facts.trace.run.devices.end() || !known->memory_bytes) continue;
    const auto size = static_cast<double>(*known->memory_bytes);
    const auto held = static_cast<double>(most_held(device));
    if (held < kFullShare * size) continue;
    Candidate one;
    one.words.rule = "capacity";
    one.words.type = SuggestionType::memory;
    one.words.operation = known->name;
    one.words.title = "Leave room in device memory";
    one.words.description = fmt::format(
        "{} of {} were in use at the peak ({}): a little more and allocations fail, or "
        "the allocator stops to tidy up.",
        base::format_bytes(held), base::format_bytes(size),
        base::format_percent(held / size * 100));
    one.words.implementation_hint =
        "fathom memory shows what holds it. Smaller batches, checkpointed activations, sharded "
        "optimizer states.\n"
        "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)";
    found.push_back(one);
  }
  return found;
}

}  // namespace fathom::advise
