#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "advise/late_launches.h"
#include "advise/rules.h"
#include "advise/shapes.h"
#include "base/format.h"

// Trigger  Over 70 % of the kernels take less than 10 µs, 100 of them or more: each has too little
//          to do to fill a GPU. Not said of a server, which makes its batches itself.
// Edit     None: a larger batch makes no step shorter. It makes one of more samples take hardly
//          longer, and how much that is worth cannot be seen in a trace.
namespace fathom::advise {
namespace {

constexpr std::int64_t kShortKernelNs = 10'000;
constexpr double kMostKernels = 0.7;
constexpr std::size_t kEnoughKernels = 100;
constexpr double kOfCompute = 0.2;
constexpr double kSmallBatchTriggerPct = 10;

// Of most convolutions, the first size of what they work on; nothing without them or their shapes.
std::optional<std::int64_t> batch_of(const Facts& facts) {
  const std::vector<bool> convolutions = names_that(facts.trace, [](std::string_view name) {
    return name == "aten::conv1d" || name == "aten::conv2d" || name == "aten::conv3d";
  });
  std::map<std::int64_t, std::size_t> counts;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (!convolutions[facts.spans.name[id]] || facts.spans.shape[id] == 0) continue;
    const std::vector<Shape> shapes = shapes_of(facts.trace, id);
    if (!shapes.empty() && shapes[0].size() >= 3) ++counts[shapes[0][0]];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return std::nullopt;
  return most->first;
}

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
  if (const auto batch = batch_of(facts)) {
    found.words.description += fmt::format(" Convolutions work on a batch of {}.", *batch);
  }
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
