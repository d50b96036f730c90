#include <fmt/format.h>

#include <algorithm>

#include "advise/late_launches.h"
#include "advise/rules.h"
#include "base/format.h"

// Trigger  Over 70 % of the kernels take less than 10 µs, 100 of them or more: each has too little
// to
//          do to fill a GPU. Not said of a server, which makes its batches itself.
// Edit     None: a larger batch makes no step shorter. It makes one of more samples take hardly
//          longer, and how much that is worth cannot be seen in a trace.
namespace fathom::advise {
namespace {

constexpr std::int64_t kShortKernelNs = 10'000;
constexpr double kMostKernels = 0.7;
constexpr std::size_t kEnoughKernels = 100;
constexpr double kOfCompute = 0.2;
constexpr double kSmallBatchTriggerPct = 10;

}  // namespace

Candidates rule_small_batch(const Facts& facts) {
  if (facts.platform.server != Server::none || !facts.platform.is_pytorch) return {};
  std::vector<std::uint32_t> short_ones;
  std::size_t kernels = 0;
  std::int64_t time = 0;
  std::int64_t of_all = 0;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != WorkType::compute) continue;
    ++kernels;
    of_all += row.duration_ns();
    if (row.duration_ns() >= kShortKernelNs) continue;
    short_ones.push_back(i);
    time += row.duration_ns();
  }
  const double part = static_cast<double>(short_ones.size()) /
                      static_cast<double>(std::max<std::size_t>(1, kernels));
  if (short_ones.size() < kEnoughKernels || part <= kMostKernels) return {};
  if (static_cast<double>(time) < kOfCompute * static_cast<double>(of_all)) return {};
  if (facts.share(time + late_launches(facts).total_ns) < kSmallBatchTriggerPct) return {};
  Candidate found = found_by("small_batch", SuggestionType::batching, time);
  show_work(found.words, facts, short_ones);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = facts.platform.trains ? "Raise the batch size per GPU"
                                            : "Raise the batch size, if latency allows";
  found.words.description =
      fmt::format("{} of {} kernels take less than 10 µs: so short a kernel seldom fills a GPU.",
                  base::format_count(short_ones.size()), base::format_count(kernels));
  found.supposes =
      "No step gets shorter, but a step of more samples takes hardly longer until kernels fill "
      "the GPU.";
  found.words.implementation_hint =
      facts.platform.trains
          ? "Double the batch for as long as a step takes less than twice the time and memory "
            "allows; adjust the learning rate."
          : "Double the batch for as long as it takes less than twice the time. A service that "
            "must answer one request at once cannot.";
  return {found};
}

}  // namespace fathom::advise
