#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "advise/shapes.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  Products on tensor cores whose kernels say that their operands are not aligned
// ("align1",
//          "align2") take 3 % of the run. They load element by element, because a size is no
//          multiple of 8 (16-bit types) or 4 (TF32).
// Edit     0.6, 0.4 and 0.25 of their time stays.
namespace fathom::advise {
namespace {

constexpr double kAlignmentTriggerPct = 3;

// "cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1"; not "simt", which aligned or not has no
// tensor cores, nor "align16".
bool is_misaligned_product(std::string_view kernel) {
  if (!base::contains(kernel, "tensorop") || !base::contains(kernel, "gemm")) return false;
  const std::size_t at = kernel.find("_align");
  if (at == kernel.npos) return false;
  const std::string_view rest = kernel.substr(at + 6);
  const bool is_low = rest.starts_with('1') || rest.starts_with('2');
  return is_low && (rest.size() == 1 || rest[1] < '0' || rest[1] > '9');
}

bool is_of_16_bits(std::string_view kernel) {
  return base::contains(kernel, "bf16") || base::contains(kernel, "f16_") ||
         base::contains(kernel, "h1688") || base::contains(kernel, "h16816");
}

struct Misaligned {
  std::vector<std::uint32_t> rows;
  std::int64_t ns = 0;
  std::int64_t multiple = 4;
  std::map<std::int64_t, std::int64_t> ns_by_size;  // of the sizes that are no multiple
  std::int64_t known_ns = 0;                        // of those whose sizes are recorded
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

Misaligned misaligned_products(const Facts& facts) {
  const std::vector<bool> misaligned = names_that(facts.trace, is_misaligned_product);
  Misaligned found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != WorkType::compute || !misaligned[row.name]) continue;
    found.rows.push_back(i);
    found.ns += row.duration_ns();
    if (is_of_16_bits(facts.trace.names.view(row.name))) found.multiple = 8;
  }
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
  found.edit = [&facts, rows = seen.rows](Edits& edits, Effort effort) {
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, pick(effort, 0.6, 0.4, 0.25));
    }
  };
  return {found};
}

}  // namespace fathom::advise
