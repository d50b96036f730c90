#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  On one GPU, copies from the host take half of the run or more, and most of their bytes
// are
//          in large copies of a few sizes that come again and again: weights that do not stay on
//          the GPU but are streamed in for every layer.
// Edit     Low and mid: half of the bytes, as types of half the width have, and with them half of
//          the time. High: the weights stay on the GPU, and the copies go. Prefetching is no edit:
//          it hides no more than the compute there is.
namespace fathom::advise {
namespace {

constexpr double kStreamingTriggerPct = 50;
constexpr std::int64_t kLargeBytes = 1'000'000;
constexpr std::size_t kSeveral = 4;
constexpr double kMostBytes = 0.5;

struct Streamed {
  std::vector<std::uint32_t> rows;  // large copies to one GPU
  std::int64_t ns = 0;
  std::int64_t bytes = 0;
  std::size_t sizes = 0;
  std::int64_t compute_ns = 0;
  std::vector<std::uint32_t> moved_on;  // the same bytes copied once more, on the GPU
  std::int64_t moved_ns = 0;
};

std::optional<Streamed> streamed_to(const Facts& facts, const analyze::DeviceWork& device) {
  Streamed found;
  std::map<std::int64_t, std::size_t> counts;
  for (const std::uint32_t i : device.by_start) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type == WorkType::compute) found.compute_ns += row.duration_ns();
    if (row.type != WorkType::memory || facts.direction(row) != TransferDirection::to_gpu) continue;
    const std::int64_t bytes = facts.bytes_of(row.span);
    if (bytes < kLargeBytes) continue;
    found.rows.push_back(i);
    found.ns += row.duration_ns();
    found.bytes += bytes;
    ++counts[bytes];
  }
  if (facts.share(found.ns) < kStreamingTriggerPct) return std::nullopt;
  std::int64_t repeated = 0;
  std::size_t sizes = 0;
  for (const auto& [bytes, count] : counts) {
    if (count < kSeveral) continue;
    repeated += bytes * static_cast<std::int64_t>(count);
    ++sizes;
  }
  // A single one may well be the same data each time (rule_repeats.cpp).
  if (sizes < 2 || static_cast<double>(repeated) < kMostBytes * static_cast<double>(found.bytes)) {
    return std::nullopt;
  }
  found.sizes = counts.size();
  for (const std::uint32_t i : device.by_start) {
    const WorkRow& row = facts.on.gpu.rows[i];
    const bool is_within = row.type == WorkType::memory &&
                           facts.direction(row) == TransferDirection::other &&
                           facts.spans.kind[row.span] == SpanKind::copy;
    if (!is_within || !counts.contains(facts.bytes_of(row.span))) continue;
    found.moved_on.push_back(i);
    found.moved_ns += row.duration_ns();
  }
  return found;
}

// Products in plain FP32, by the names of their kernels: then so are the weights.
bool multiplies_in_fp32(const Facts& facts) {
  std::int64_t fp32 = 0;
  std::int64_t narrow = 0;
  for (const WorkRow& row : facts.on.gpu.rows) {
    if (row.type != WorkType::compute) continue;
    const std::string_view name = facts.trace.names.view(row.name);
    if (base::contains(name, "f32f32_f32") || base::contains(name, "sgemm")) {
      fp32 += row.duration_ns();
    } else if (base::contains(name, "bf16") || base::contains(name, "f16") ||
               base::contains(name, "hgemm")) {
      narrow += row.duration_ns();
    }
  }
  return fp32 > narrow;
}

struct AllGpus {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> moved_on;
  std::size_t gpus = 0;
};

std::string streaming_hint(const Facts& facts, bool is_fp32) {
  const std::string words = "Keep the weights on the GPU if they fit, or as many layers as fit.";
  if (!facts.platform.is_pytorch) {
    return words + (is_fp32 ? " Else store them in 16 bits: half the bytes." : "");
  }
  return words + " Else " +
         (is_fp32 ? "load them in 16 bits, which halves the bytes.\n"
                    "model = model.to(torch.bfloat16)  # before it is moved to pinned memory"
                  : "quantise them to 8 bits, which halves the bytes.");
}

}  // namespace

bool streams_weights(const Facts& facts) {
  return std::any_of(facts.on.gpu.devices.begin(), facts.on.gpu.devices.end(),
                     [&](const auto& device) { return streamed_to(facts, device).has_value(); });
}

Candidates rule_streaming(const Facts& facts) {
  AllGpus all;
  std::optional<Streamed> worst;
  for (const analyze::DeviceWork& device : facts.on.gpu.devices) {
    std::optional<Streamed> seen = streamed_to(facts, device);
    if (!seen) continue;
    ++all.gpus;
    all.rows.insert(all.rows.end(), seen->rows.begin(), seen->rows.end());
    all.moved_on.insert(all.moved_on.end(), seen->moved_on.begin(), seen->moved_on.end());
    if (!worst || seen->ns > worst->ns) worst = std::move(seen);
  }
  if (!worst) return {};
  const bool is_fp32 = multiplies_in_fp32(facts);
  Candidate found = found_by("streaming", SuggestionType::memory, worst->ns + worst->moved_ns);
  show_work(found.words, facts, all.rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = is_fp32 ? "Keep weights on the GPU, or stream them in 16 bits"
                              : "Keep weights on the GPU, or stream fewer bytes";
  const auto seconds = static_cast<double>(worst->ns) / 1e9;
  found.words.description = fmt::format(
      "{} from the host, in {}, brought {:.1f} GB to {} at {:.1f} GB/s: {} of the run. The GPU "
      "computed for {}, so copying alongside compute would hide no more than that.{}",
      base::format_plural(worst->rows.size(), "copy", "copies"),
      base::format_plural(worst->sizes, "size", "sizes"), static_cast<double>(worst->bytes) / 1e9,
      all.gpus > 1 ? fmt::format("each of {} GPUs", all.gpus) : "the GPU",
      static_cast<double>(worst->bytes) / 1e9 / seconds,
      base::format_percent(facts.share(worst->ns)), base::format_duration(worst->compute_ns),
      worst->moved_on.empty()
          ? ""
          : fmt::format(" Each is then copied once more on the GPU, which takes {}.",
                        base::format_duration(worst->moved_ns)));
  found.supposes =
      is_fp32 ? "if the weights are 16-bit instead of FP32" : "if the weights take half the bytes";
  found.words.implementation_hint = streaming_hint(facts, is_fp32);
  found.edit = [&facts, all](Edits& edits, Effort effort) {
    const double left = pick(effort, 0.5, 0.5, 0.0);
    for (const std::uint32_t row : all.rows) scale_work(edits, facts.plan, row, left);
    for (const std::uint32_t row : all.moved_on) scale_work(edits, facts.plan, row, left);
  };
  return {found};
}

}  // namespace fathom::advise
