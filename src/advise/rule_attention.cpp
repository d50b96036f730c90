#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "advise/rules.h"
#include "advise/shapes.h"
#include "analyze/efficiency/kernel_math.h"
#include "analyze/efficiency/op_args.h"
#include "analyze/efficiency/op_work.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  A softmax of B·M·N elements with products of batches before and after it, within six
//          operations, that make and use its matrix: attention that writes out the scores. Forward
//          and backward pass, 3 % of the run. Not for less than 128 queries, where a fused kernel
//          has little to gain.
// Edit     All of it takes what its products, 4·B·M·N·d operations, take at 20, 35 and 50 % of what
//          the GPU can do in the type in which its products compute. Where that is not known, its
//          products take as long as they did, 60 and 40 % of that, and the rest goes.
namespace fathom::advise {
namespace {

constexpr std::int64_t kFewestQueries = 128;
constexpr std::size_t kNear = 6;           // operations that launch work, on either side
constexpr double kRecomputeScores = 1.25;  // a fused backward pass makes five products, not four

// An operation that launched GPU work, in the order of its thread.
struct Launching {
  SpanId operation = kNoSpan;
  std::vector<std::uint32_t> rows;
};

enum class Part : std::uint8_t { other, product, softmax, softmax_backward };

Part part_of(std::string_view name) {
  if (name == "aten::bmm" || name == "aten::baddbmm") return Part::product;
  if (name == "aten::_softmax" || name == "aten::_safe_softmax") return Part::softmax;
  return name == "aten::_softmax_backward_data" ? Part::softmax_backward : Part::other;
}

// By thread and time, because spans are numbered so.
std::vector<Launching> launching_operations(const Facts& facts) {
  std::vector<std::pair<SpanId, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const SpanId operation = operator_around(facts.spans, facts.on.gpu.rows[i].launch);
    if (operation != kNoSpan) pairs.emplace_back(operation, i);
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<Launching> found;
  for (const auto& [operation, row] : pairs) {
    if (found.empty() || found.back().operation != operation) found.push_back({operation, {}});
    found.back().rows.push_back(row);
  }
  return found;
}

constexpr std::uint32_t kNoRow = UINT32_MAX;

// One attention that is written out.
struct Unfused {
  std::vector<std::uint32_t> rows;
  std::int64_t ns = 0;
  std::int64_t products_ns = 0;
  double flop = 0;
  Shape scores;  // of its softmax
  bool is_fallback = false;
  SpanId first_product = kNoSpan;
  std::uint32_t product_row = kNoRow;  // a kernel of that product
};

class AttentionFinder {
 public:
  explicit AttentionFinder(const Facts& facts)
      : facts_(facts),
        operations_(launching_operations(facts)),
        wrappers_(names_that(facts.trace,
                             [](std::string_view name) {
                               return name == "aten::matmul" || name == "aten::einsum";
                             })),
        fallback_(names_that(facts.trace, [](std::string_view name) {
          return base::contains(name, "_scaled_dot_product_attention_math");
        })) {}

  std::vector<Unfused> find() const {
    std::vector<Unfused> found;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Part part = part_of(facts_.trace.name(operations_[i].operation));
      if (part != Part::softmax && part != Part::softmax_backward) continue;
      if (auto one = around(i, part == Part::softmax_backward)) found.push_back(std::move(*one));
    }
    return found;
  }

 private:
  std::vector<Shape> shapes(std::size_t i) const {
    return shapes_of(facts_.trace, operations_[i].operation);
  }
  bool is_same_thread(std::size_t a, std::size_t b) const {
    return facts_.spans.track[operations_[a].operation] ==
           facts_.spans.track[operations_[b].operation];
  }

  // 2·B·M·K·N of a product that makes or uses a matrix of so many elements; 0 of any other.
  double flop_of(std::size_t i, std::int64_t scores) const {
    if (part_of(facts_.trace.name(operations_[i].operation)) != Part::product) return 0;
    std::vector<Shape> operands = shapes(i);
    if (operands.size() == 3) operands.erase(operands.begin());  // of baddbmm, what is added
    if (operands.size() != 2 || operands[0].size() != 3 || operands[1].size() != 3) return 0;
    const Shape& a = operands[0];
    const Shape& b = operands[1];
    const Shape made = {a[0], a[1], b[2]};
    const bool has_scores =
        elements_of(a) == scores || elements_of(b) == scores || elements_of(made) == scores;
    return has_scores ? 2.0 * static_cast<double>(a[0]) * static_cast<double>(a[1]) *
                            static_cast<double>(a[2]) * static_cast<double>(b[2])
                      : 0;
  }

  std::optional<Unfused> around(std::size_t softmax, bool is_backward) const {
    const std::vector<Shape> of_softmax = shapes(softmax);
    if (of_softmax.empty() || of_softmax[0].size() < 3) return std::nullopt;
    Unfused found;
    found.scores = of_softmax[0];
    const std::int64_t scores = elements_of(found.scores);
    if (found.scores[found.scores.size() - 2] < kFewestQueries) return std::nullopt;
    // The products of a backward pass come in twos.
    const std::size_t wanted = is_backward ? 2 : 1;
    std::size_t first = softmax;
    std::size_t last = softmax;
    std::size_t before = 0;
    std::size_t after = 0;
    for (std::size_t i = softmax; i-- > 0 && softmax - i <= kNear && before < wanted;) {
      if (!is_same_thread(i, softmax)) break;
      if (flop_of(i, scores) <= 0) continue;
      first = i;
      ++before;
    }
    for (std::size_t i = softmax + 1;
         i < operations_.size() && i - softmax <= kNear && after < wanted; ++i) {
      if (!is_same_thread(i, softmax)) break;
      if (flop_of(i, scores) <= 0) continue;
      last = i;
      ++after;
    }
    if (before == 0 || after == 0) return std::nullopt;
    take(found, first, last, scores);
    if (is_backward) found.flop *= kRecomputeScores;
    return found;
  }

  // The products, what works on the scores between them, and the copies that a product makes of its
  // operands.
  void take(Unfused& found, std::size_t first, std::size_t last, std::int64_t scores) const {
    found.first_product = operations_[first].operation;
    found.product_row = longest_row(operations_[first].rows);
    found.is_fallback = innermost_around(facts_.spans, found.first_product, fallback_) != kNoSpan;
    const SpanId wrapper = outermost_around(facts_.spans, found.first_product, wrappers_);
    while (wrapper != kNoSpan && first > 0 && is_same_thread(first, first - 1) &&
           operations_[first - 1].operation > wrapper) {
      --first;
    }
    for (std::size_t i = first; i <= last; ++i) {
      const double flop = flop_of(i, scores);
      const bool is_copy =
          outermost_around(facts_.spans, operations_[i].operation, wrappers_) != kNoSpan;
      const std::vector<Shape> operands = shapes(i);
      const bool has_scores =
          std::any_of(operands.begin(), operands.end(),
                      [&](const Shape& shape) { return elements_of(shape) == scores; });
      if (flop <= 0 && !is_copy && !has_scores) continue;
      for (const std::uint32_t row : operations_[i].rows) {
        found.rows.push_back(row);
        found.ns += facts_.on.gpu.rows[row].duration_ns();
        if (flop > 0) found.products_ns += facts_.on.gpu.rows[row].duration_ns();
      }
      found.flop += flop;
    }
  }

  std::uint32_t longest_row(const std::vector<std::uint32_t>& rows) const {
    return *std::ranges::max_element(
        rows, {}, [&](std::uint32_t row) { return facts_.on.gpu.rows[row].duration_ns(); });
  }

  const Facts& facts_;
  std::vector<Launching> operations_;
  std::vector<bool> wrappers_;
  std::vector<bool> fallback_;
};

// Most traces have none, as their names show.
std::vector<Unfused> written_attention(const Facts& facts) {
  const std::vector<bool> softmax = names_that(facts.trace, [](std::string_view name) {
    return name.starts_with("aten::_s") && part_of(name) != Part::other;
  });
  if (std::none_of(softmax.begin(), softmax.end(), [](bool is) { return is; })) return {};
  return AttentionFinder(facts).find();
}

// What a fused kernel is measured by: the peak of the type in which the products compute now.
struct FusedPeak {
  double flop_per_ns = 0;
  analyze::Arithmetic in = analyze::Arithmetic::fp16;
};

std::optional<FusedPeak> peak_of(const Facts& facts, const Unfused& attention) {
  const SpanId product = attention.first_product;
  const auto work =
      analyze::op_work(facts.trace.name(product), analyze::op_inputs(facts.trace.args(product)));
  if (!work || attention.product_row == kNoRow) return std::nullopt;
  const WorkRow& row = facts.on.gpu.rows[attention.product_row];
  const auto in = analyze::arithmetic_of(*work, facts.trace.names.view(row.name));
  const auto tflops = in ? facts.peaks.tflops(*in) : std::nullopt;
  if (!tflops) return std::nullopt;
  return FusedPeak{*tflops * 1e3, *in};
}

double left_of(const Unfused& one, const std::optional<FusedPeak>& peak, Effort effort) {
  const auto whole = static_cast<double>(one.ns);
  if (whole <= 0) return 1;
  const double takes = peak ? one.flop / (peak->flop_per_ns * pick(effort, 0.2, 0.35, 0.5))
                            : static_cast<double>(one.products_ns) * pick(effort, 1.0, 0.6, 0.4);
  return std::min(1.0, takes / whole);
}

std::string attention_hint(const Platform& platform, bool is_fallback) {
  if (is_fallback) {
    return "A fused kernel needs 16-bit tensors, heads of at most 256 and no dense mask; "
           "is_causal=True needs no mask. This says why none was taken:\n"
           "with torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION): "
           "F.scaled_dot_product_attention(q, k, v, is_causal=True)";
  }
  const std::string hint = hint_for(
      platform,
      {.words = "Use a fused attention kernel, which never writes the scores to memory.",
       .pytorch =
           "\nout = F.scaled_dot_product_attention(q, k, v)  # instead of softmax(q @ k.mT) @ v"});
  if (!platform.uses_transformers) return hint;
  return hint +
         "\nmodel = AutoModel.from_pretrained(name, attn_implementation=\"sdpa\")  # if it has it";
}

// "8x12x3137x3137".
std::string text_of_shape(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape, "×"));
}

}  // namespace

std::vector<bool> in_written_attention(const Facts& facts) {
  std::vector<bool> found(facts.on.gpu.rows.size());
  for (const Unfused& one : written_attention(facts)) {
    for (const std::uint32_t row : one.rows) found[row] = true;
  }
  return found;
}

Candidates rule_attention(const Facts& facts) {
  const std::vector<Unfused> seen = written_attention(facts);
  std::int64_t total = 0;
  std::vector<std::uint32_t> rows;
  const Unfused* largest = nullptr;
  for (const Unfused& one : seen) {
    total += one.ns;
    rows.insert(rows.end(), one.rows.begin(), one.rows.end());
    if (largest == nullptr || one.ns > largest->ns) largest = &one;
  }
  if (largest == nullptr || facts.share(total) < kAttentionTriggerPct) return {};
  const std::optional<FusedPeak> peak = peak_of(facts, *largest);
  Candidate found = found_by("attention", SuggestionType::algorithm, total);
  show_work(found.words, facts, rows);
  found.words.operation = largest->is_fallback ? "aten::_scaled_dot_product_attention_math"
                                               : facts.trace.name(largest->first_product);
  found.words.title = largest->is_fallback ? "Let attention use a fused kernel: it falls back to "
                                             "plain products and softmax"
                                           : "Use fused attention (SDPA)";
  const std::int64_t keys = largest->scores.back();
  found.words.description = fmt::format(
      "Attention is computed {} with its scores ({}) written to memory: {}, {} of the run and {} "
      "of all GPU time.{}",
      seen.size() == 1 ? "once" : fmt::format("{} times", base::format_count(seen.size())),
      text_of_shape(largest->scores), base::format_duration(total),
      base::format_percent(facts.share(total)),
      base::format_percent(static_cast<double>(total) * 100 / static_cast<double>(facts.work_ns)),
      keys % 8 == 0 ? ""
                    : fmt::format(" {} is not a multiple of 8, so its products load element by "
                                  "element; a fused kernel does not.",
                                  base::format_count(static_cast<std::uint64_t>(keys))));
  const bool is_plain = peak && peak->in == analyze::Arithmetic::fp32;
  found.supposes = is_plain ? "if a fused kernel reaches 35 % of the FP32 peak"
                   : peak   ? "if a fused kernel reaches 35 % of the tensor cores' peak"
                            : "if its products take 60 % of the time and all else goes";
  found.words.implementation_hint = attention_hint(facts.platform, largest->is_fallback);
  found.edit = [&facts, seen, peak](Edits& edits, Effort effort) {
    for (const Unfused& one : seen) {
      const double left = left_of(one, peak, effort);
      for (const std::uint32_t row : one.rows) scale_work(edits, facts.plan, row, left);
    }
  };
  return {found};
}

}  // namespace fathom::advise
