#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "advise/floor.h"
#include "advise/rules.h"
#include "advise/shapes.h"
#include "analyze/efficiency/kernel_math.h"
#include "analyze/efficiency/op_args.h"
#include "analyze/efficiency/op_work.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  Products on tensor cores whose kernels say that their operands are not aligned
//          ("align1", "align2"), or say nothing of it while an inner size of theirs is no multiple
//          of 8 (16-bit types) or 4 (TF32) and they are slower than products should be, take 3 % of
//          the run. Not those of attention that is to be fused: a fused kernel does without them.
// Edit     0.6, 0.4 and 0.25 of their time stays, but no less than they need at the GPU's peaks.
namespace fathom::advise {
namespace {

constexpr double kAlignmentTriggerPct = 3;

// "cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1"; not "simt", which aligned or not has no
// tensor cores, nor "align16".
bool is_misaligned(std::string_view kernel) {
  const std::size_t at = kernel.find("_align");
  if (at == kernel.npos || analyze::on_tensor_cores(kernel) != true) return false;
  const std::string_view rest = kernel.substr(at + 6);
  const bool is_low = rest.starts_with('1') || rest.starts_with('2');
  return is_low && (rest.size() == 1 || rest[1] < '0' || rest[1] > '9');
}

struct Misaligned {
  std::vector<std::uint32_t> rows;
  std::vector<double> least;  // the part of its time that each needs at the GPU's peaks
  std::int64_t ns = 0;
  std::int64_t multiple = 4;
  std::map<std::int64_t, std::int64_t> ns_by_size;  // of the sizes that are no multiple
  std::int64_t known_ns = 0;                        // of those whose sizes are recorded
};

// What an inner size of an operation should be a multiple of and is not: the last sizes of [M,K]
// and [K,N] are those that are loaded side by side.
std::optional<std::int64_t> multiple_missed(const Facts& facts, SpanId operation) {
  const auto work = analyze::op_work(facts.trace.name(operation),
                                     analyze::op_inputs(facts.trace.args(operation)));
  if (!work || !work->is_matrix || (work->element_bytes != 2 && work->element_bytes != 4)) {
    return std::nullopt;
  }
  const std::vector<Shape> shapes = shapes_of(facts.trace, operation);
  if (shapes.size() < 2) return std::nullopt;
  const std::int64_t multiple = work->element_bytes == 2 ? 8 : 4;
  const auto is_odd = [&](const Shape& shape) {
    return shape.size() >= 2 && shape.back() % multiple != 0;
  };
  const bool any = is_odd(shapes[shapes.size() - 1]) || is_odd(shapes[shapes.size() - 2]);
  return any ? std::optional(multiple) : std::nullopt;
}

// Of kernels, by their names and, where these do not say, by shapes and speed.
class Alignment {
 public:
  explicit Alignment(const Facts& facts)
      : facts_(facts),
        floors_(facts),
        misaligned_(names_that(facts.trace, is_misaligned)),
        may_be_(names_that(facts.trace, [](std::string_view kernel) {
          return !base::contains(kernel, "align") && !base::contains(kernel, "_ldg") &&
                 analyze::on_tensor_cores(kernel) == true;
        })) {}

  // What a size of this product should be a multiple of; nothing where all are.
  std::optional<std::int64_t> missed(const WorkRow& row) {
    if (misaligned_[row.name])
      return analyze::is_of_16_bits(facts_.trace.names.view(row.name)) ? 8 : 4;
    if (!may_be_[row.name]) return std::nullopt;
    const SpanId operation = operator_around(facts_.spans, row.launch);
    if (operation == kNoSpan || facts_.spans.shape[operation] == 0) return std::nullopt;
    const auto [at, is_new] = by_shape_.try_emplace(
        {facts_.spans.name[operation], facts_.spans.shape[operation]}, std::nullopt);
    if (is_new) at->second = multiple_missed(facts_, operation);
    if (!at->second) return std::nullopt;
    const double good = analyze::good_gemm_pct(facts_.gpu_name) / 100;
    const double least = least_part(row);
    return least > 0 && least < good ? at->second : std::nullopt;
  }

  // The part of its time that a product needs at the GPU's peaks; 0 where that is not known.
  double least_part(const WorkRow& row) {
    const std::optional<Floor> floor = floors_.of(row);
    const auto whole = static_cast<double>(row.duration_ns());
    return floor && whole > 0 ? std::min(1.0, floor->ns() / whole) : 0;
  }

 private:
  const Facts& facts_;
  Floors floors_;
  std::vector<bool> misaligned_;  // by name
  std::vector<bool> may_be_;      // by name
  std::map<std::pair<trace::NameId, trace::NameId>, std::optional<std::int64_t>> by_shape_;
};

void note_sizes(const Facts& facts, const WorkRow& row, Misaligned& found) {
  const SpanId operation = operator_around(facts.spans, row.launch);
  if (operation == kNoSpan) return;
  std::vector<std::int64_t> seen;  // a product may have several
  for (const Shape& shape : shapes_of(facts.trace, operation)) {
    // The batch of a product of batches is no part of it.
    const std::size_t from = shape.size() > 2 ? shape.size() - 2 : 0;
    for (std::size_t i = from; i < shape.size(); ++i) {
      const bool is_new = std::find(seen.begin(), seen.end(), shape[i]) == seen.end();
      if (shape[i] <= 1 || shape[i] % found.multiple == 0 || !is_new) continue;
      seen.push_back(shape[i]);
      found.ns_by_size[shape[i]] += row.duration_ns();
    }
  }
  if (!seen.empty()) found.known_ns += row.duration_ns();
}

// "647 to 648 (44.0 %)": the sizes that most of the time has, with their part of what is known.
std::string sizes_to_pad(const Misaligned& seen) {
  constexpr std::size_t kMostSizes = 3;
  constexpr std::int64_t kLeastPart = 10;  // one in so many
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
  for (const auto& [size, ns] : seen.ns_by_size) {
    if (ns * kLeastPart >= seen.known_ns) sizes.emplace_back(ns, size);
  }
  std::sort(sizes.rbegin(), sizes.rend());
  if (sizes.size() > kMostSizes) sizes.resize(kMostSizes);
  std::vector<std::string> texts;
  for (const auto& [ns, size] : sizes) {
    const std::int64_t padded = (size + seen.multiple - 1) / seen.multiple * seen.multiple;
    texts.push_back(fmt::format(
        "{} to {} ({})", base::format_count(static_cast<std::uint64_t>(size)),
        base::format_count(static_cast<std::uint64_t>(padded)),
        base::format_percent(static_cast<double>(ns) * 100 / static_cast<double>(seen.known_ns))));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string which_to_pad(const Misaligned& seen) {
  if (seen.known_ns == 0) return "Round sizes of layers, vocabulary and features up.";
  const double known = static_cast<double>(seen.known_ns) * 100 / static_cast<double>(seen.ns);
  constexpr double kNearlyAll = 95;
  const std::string part = known >= kNearlyAll
                               ? "with their part of that time"
                               : fmt::format("as far as they are recorded ({} of that time)",
                                             base::format_percent(known));
  return fmt::format("Sizes to pad, {}: {}.", part, sizes_to_pad(seen));
}

// A fused kernel does without those that `attention` speaks of.
void leave_out_attention(const Facts& facts, std::vector<std::uint32_t>& rows) {
  const std::vector<bool> written = in_written_attention(facts);
  std::int64_t ns = 0;
  for (std::uint32_t i = 0; i < written.size(); ++i) {
    if (written[i]) ns += facts.on.gpu.rows[i].duration_ns();
  }
  if (facts.share(ns) < kAttentionTriggerPct) return;
  std::erase_if(rows, [&](std::uint32_t row) { return written[row]; });
}

Misaligned misaligned_products(const Facts& facts) {
  Alignment alignment(facts);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.kernel_class == analyze::KernelClass::gemm && alignment.missed(row)) rows.push_back(i);
  }
  if (!rows.empty()) leave_out_attention(facts, rows);
  Misaligned found;
  for (const std::uint32_t i : rows) {
    const WorkRow& row = facts.on.gpu.rows[i];
    found.least.push_back(alignment.least_part(row));
    found.multiple = std::max(found.multiple, *alignment.missed(row));
    found.ns += row.duration_ns();
  }
  found.rows = std::move(rows);
  for (const std::uint32_t i : found.rows) note_sizes(facts, facts.on.gpu.rows[i], found);
  return found;
}

}  // namespace

Candidates rule_alignment(const Facts& facts) {
  const Misaligned seen = misaligned_products(facts);
  if (facts.share(seen.ns) < kAlignmentTriggerPct) return {};
  Candidate found = found_by("alignment", SuggestionType::algorithm, seen.ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = fmt::format("Pad matrix sizes to a multiple of {}", seen.multiple);
  found.words.description = fmt::format(
      "{} on tensor cores load element by element, because a size is not a multiple of {}: {} ({} "
      "of the run).",
      base::format_plural(seen.rows.size(), "product", "products"), seen.multiple,
      base::format_duration(seen.ns), base::format_percent(facts.share(seen.ns)));
  found.supposes = "if aligned products take 40 % of the time";
  found.words.implementation_hint =
      which_to_pad(seen) + " Zeros in the rows and columns that are added change no result.";
  found.edit = [&facts, seen](Edits& edits, Effort effort) {
    for (std::size_t i = 0; i < seen.rows.size(); ++i) {
      scale_work(edits, facts.plan, seen.rows[i],
                 std::max(pick(effort, 0.6, 0.4, 0.25), seen.least[i]));
    }
  };
  return {found};
}

}  // namespace fathom::advise
