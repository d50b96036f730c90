#pragma once

#include <functional>
#include <vector>

#include "advise/facts.h"
#include "advise/suggestion.h"
#include "analyze/operations/named_spans.h"

namespace fathom::advise {

// What most rules speak of.
using analyze::CallRole;
using analyze::CollectiveWork;
using analyze::Exchange;
using analyze::HostLines;
using analyze::innermost_around;
using analyze::innermost_that;
using analyze::names_that;
using analyze::operator_around;
using analyze::outermost_around;
using analyze::WorkRow;
using analyze::WorkType;
using base::Interval;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

// How well a change is made: half-heartedly, as usual, as well as possible.
enum class Effort : std::uint8_t { low, mid, high };

// What a rule found: the words, and the change as an edit on top of others. What an edit supposes
// is in `supposes` ("if …"); of advice alone, `supposes` is a sentence that says why it is worth
// it.
struct Candidate {
  Suggestion words;
  std::string supposes;
  bool comes_first = false;  // one sure line of code: made before larger changes that would hide it
  bool is_a_guess = false;   // what it supposes cannot be seen: made after what can
  std::int64_t concerns_ns = 0;  // how long what it is about took: no more can be gained
  std::function<void(Edits&, Effort)> edit;  // empty: advice alone
};

using Candidates = std::vector<Candidate>;

inline Candidate found_by(std::string_view rule, SuggestionType type, std::int64_t concerns_ns) {
  Candidate found;
  found.words.rule = rule;
  found.words.type = type;
  found.concerns_ns = concerns_ns;
  return found;
}

// One rule a file, in which its trigger and its edit are written down. docs/suggestions.md has all
// of them.
Candidates rule_input(const Facts& facts);
Candidates rule_preparation(const Facts& facts);
Candidates rule_launch(const Facts& facts);
Candidates rule_idle(const Facts& facts);
Candidates rule_queued(const Facts& facts);
Candidates rule_sync(const Facts& facts);
Candidates rule_overlap(const Facts& facts);
Candidates rule_batching(const Facts& facts);
Candidates rule_streams(const Facts& facts);
Candidates rule_copies(const Facts& facts);
Candidates rule_repeats(const Facts& facts);
Candidates rule_graph_inputs(const Facts& facts);
Candidates rule_allocations(const Facts& facts);
Candidates rule_zero_fills(const Facts& facts);
Candidates rule_setup(const Facts& facts);
Candidates rule_precision(const Facts& facts);
Candidates rule_dominant(const Facts& facts);
Candidates rule_routing(const Facts& facts);
Candidates rule_capacity(const Facts& facts);
Candidates rule_small_batch(const Facts& facts);
Candidates rule_stacks(const Facts& facts);
Candidates rule_excerpt(const Facts& facts);
Candidates rule_attention(const Facts& facts);
Candidates rule_pointwise(const Facts& facts);
Candidates rule_alignment(const Facts& facts);
Candidates rule_layout(const Facts& facts);
Candidates rule_streaming(const Facts& facts);
Candidates rule_buckets(const Facts& facts);
Candidates rule_link(const Facts& facts);
Candidates rule_late_rank(const Facts& facts);
Candidates rule_ddp(const Facts& facts);
Candidates rule_optimizer(const Facts& facts);
Candidates rule_recompute(const Facts& facts);

// What other rules leave to one of them.
bool has_tiny_all_reduces(const Facts& facts);  // rule_buckets
bool streams_weights(const Facts& facts);       // rule_streaming
// By row, how much of an exchange has a cause of its own and is not to be hidden: waiting for a
// late rank, a slow link.
std::vector<std::int64_t> explained_exchange_ns(const Facts& facts);
void add_waiting(const Facts& facts, std::vector<std::int64_t>& ns);     // rule_late_rank
void add_slow_links(const Facts& facts, std::vector<std::int64_t>& ns);  // rule_link
std::vector<bool> in_written_attention(const Facts& facts);              // rule_attention; by row
inline constexpr double kAttentionTriggerPct = 3;                        // of the run
bool wants_tensor_cores(const Facts& facts, trace::NameId kernel);       // rule_precision

// Of operations whose times alone are known, as in a profile: bounds, and no edit.
std::vector<Suggestion> rule_operations(const std::vector<NamedFigures>& operations);

// So many spans are shown as evidence.
inline constexpr std::size_t kEvidence = 20;

// The spans that show most: the longest few of them, longest first, or the first few; and how many
// there are.
void show(Suggestion& words, const trace::Trace& trace, std::vector<trace::SpanId> spans);
void show_in_order(Suggestion& words, std::vector<trace::SpanId> spans);
void show_work(Suggestion& words, const Facts& facts, const std::vector<std::uint32_t>& rows);

// Of a rule that finds many names: the few that concern most.
void keep_largest(Candidates& candidates);

// `low`, `mid` or `high`, as the effort is.
template <typename T>
constexpr T pick(Effort effort, T low, T mid, T high) {
  return effort == Effort::low ? low : effort == Effort::mid ? mid : high;
}

}  // namespace fathom::advise
