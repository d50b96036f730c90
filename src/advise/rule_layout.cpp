#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  Kernels of cuDNN and MIOpen that turn images around between NCHW and NHWC, which the
// fast
//          convolutions want, take 2 % of the run. Not where the tensors are in that layout
//          already, as their strides show: then the library does it for another reason.
// Edit     Half / all / all of that time goes.
namespace fathom::advise {
namespace {

constexpr double kLayoutTriggerPct = 2;

// "nchwToNhwcKernel", "batched_transpose_16x32_half": these are of convolutions, and transposes of
// other names are not.
bool turns_images(std::string_view kernel) {
  return base::contains(kernel, "nchwToNhwc") || base::contains(kernel, "nhwcToNchw") ||
         kernel.starts_with("batched_transpose_");
}

// In the strides of "channels last" the second is 1: [[802816, 1, 14336, 256], …].
bool is_channels_last(const std::string& args) {
  const std::string_view key = "\"Input Strides\"";
  std::size_t at = args.find(key);
  if (at == std::string::npos) return false;
  at = args.find_first_of("0123456789", at + key.size());
  if (at == std::string::npos) return false;
  at = args.find(',', at);
  if (at == std::string::npos) return false;
  std::string_view second = std::string_view(args).substr(at + 1);
  while (second.starts_with(' ')) second.remove_prefix(1);
  return second.starts_with("1,");
}

struct Turns {
  std::vector<std::uint32_t> rows;
  std::int64_t ns = 0;
  std::size_t channels_last = 0;  // of the operations looked at
  std::size_t looked_at = 0;
};

Turns turns_of(const Facts& facts) {
  constexpr std::size_t kEnoughToTell = 50;
  const std::vector<bool> turning = names_that(facts.trace, turns_images);
  const std::vector<bool> convolutions = names_that(
      facts.trace, [](std::string_view name) { return base::contains(name, "convolution"); });
  Turns found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (!turning[row.name]) continue;
    found.rows.push_back(i);
    found.ns += row.duration_ns();
    if (found.looked_at == kEnoughToTell) continue;
    const SpanId convolution = innermost_around(facts.spans, row.launch, convolutions);
    if (convolution == kNoSpan) continue;
    ++found.looked_at;
    found.channels_last += is_channels_last(facts.trace.args(convolution)) ? 1 : 0;
  }
  return found;
}

}  // namespace

Candidates rule_layout(const Facts& facts) {
  const Turns seen = turns_of(facts);
  if (facts.share(seen.ns) < kLayoutTriggerPct) return {};
  if (2 * seen.channels_last > seen.looked_at) return {};
  Candidate found = found_by("layout", SuggestionType::memory, seen.ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Keep images in channels-last layout";
  found.words.description = fmt::format(
      "{} only turn tensors around between NCHW and NHWC for convolutions: {} ({} of the run).",
      base::format_plural(seen.rows.size(), "kernel", "kernels"), base::format_duration(seen.ns),
      base::format_percent(facts.share(seen.ns)));
  found.supposes = "if tensors stay in the layout that convolutions want";
  found.words.implementation_hint =
      hint_for(facts.platform, {.words = "Keep activations and weights in NHWC from the input on.",
                                .pytorch = "\nmodel = model.to(memory_format=torch.channels_last)\n"
                                           "batch = batch.to(memory_format=torch.channels_last)"});
  found.edit = [&facts, rows = seen.rows](Edits& edits, Effort effort) {
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, pick(effort, 0.5, 0.0, 0.0));
    }
  };
  return {found};
}

}  // namespace fathom::advise
