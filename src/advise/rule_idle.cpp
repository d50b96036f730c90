#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  Gaps of the GPU of 1 ms and more take 15 % of the run together, or one is 500 ms, or in
//          one thirtieth of the run the GPU works less than half; and one operation of the host,
//          which is no launch, no wait and no loading of data, fills 0.5 % of the run in them.
// Edit     What the host does for that operation in those gaps shrinks to a half, and to nothing:
// it
//          goes on elsewhere or earlier. All that it waits for itself stays.
namespace fathom::advise {
namespace {

using analyze::HostLines;
using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

constexpr double kTriggerPct = 15;
constexpr double kWorthPct = 0.5;
constexpr std::int64_t kHugeGapNs = 500'000'000;
constexpr std::int64_t kSlices = 30;
constexpr std::size_t kMost = 3;  // operations that are named

bool has_a_quiet_slice(const Facts& facts) {
  if (facts.busy.empty()) return false;
  const std::int64_t begin = facts.busy.front().begin;
  const std::int64_t length = (facts.busy.back().end - begin) / kSlices;
  for (std::int64_t i = 0; length > 0 && i < kSlices; ++i) {
    const base::Interval slice{begin + i * length, begin + (i + 1) * length};
    const auto from =
        std::lower_bound(facts.busy.begin(), facts.busy.end(), slice.begin,
                         [](const base::Interval& a, std::int64_t time) { return a.end <= time; });
    std::int64_t works = 0;
    for (auto at = from; at != facts.busy.end() && at->begin < slice.end; ++at) {
      works += std::min(at->end, slice.end) - std::max(at->begin, slice.begin);
    }
    if (works * 2 < length) return true;
  }
  return false;
}

// The outermost span around a piece that is part of the gap, and not of the run as a whole.
SpanId operation_at(const Facts& facts, SpanId span, base::Interval gap) {
  SpanId found = span;
  for (SpanId at = span; at != kNoSpan; at = facts.spans.parent[at]) {
    if (facts.spans.start_ns[at] < gap.begin || facts.spans.end_ns(at) > gap.end) break;
    found = at;
  }
  return found;
}

bool belongs_to_others(const Facts& facts, SpanId span) {
  for (SpanId at = span; at != kNoSpan; at = facts.spans.parent[at]) {
    if (facts.names.loads_data(at)) return true;
  }
  return facts.spans.kind[span] == SpanKind::runtime_call;
}

struct Filler {
  std::int64_t total_ns = 0;
  std::vector<std::size_t> pieces;
  std::vector<SpanId> spans;
};

std::map<trace::NameId, Filler> fillers_of(const Facts& facts) {
  std::map<trace::NameId, Filler> found;
  const HostLines& host = facts.on.host;
  for (const std::uint32_t thread : facts.plan.threads) {
    for (const base::Interval& gap : facts.long_gaps) {
      const auto [first, last] = pieces_within(host, thread, gap);
      for (std::size_t i = first; i < last; ++i) {
        const SpanId span = host.span[i];
        if (span == kNoSpan || belongs_to_others(facts, span)) continue;
        const SpanId operation = operation_at(facts, span, gap);
        if (!facts.names.shows_work(operation)) continue;
        Filler& filler = found[facts.spans.name[operation]];
        filler.total_ns += host.start_ns[i + 1] - host.start_ns[i];
        filler.pieces.push_back(i);
        if (filler.spans.empty() || filler.spans.back() != operation) {
          filler.spans.push_back(operation);
        }
      }
    }
  }
  return found;
}

Candidate candidate_of(const Facts& facts, trace::NameId name, const Filler& filler) {
  const auto total = static_cast<double>(filler.total_ns);
  Candidate found;
  found.concerns_ns = filler.total_ns;
  found.words.rule = "idle";
  found.words.type = SuggestionType::parallelization;
  found.words.operation = facts.trace.names.view(name);
  found.words.title =
      fmt::format("Take {} out of the GPU's way", base::fit(found.words.operation, 40));
  found.words.description = fmt::format(
      "The GPU stood still in gaps of 1 ms and more while the host was in {}: {}, {} of the run.",
      found.words.operation, base::format_duration(total),
      base::format_percent(facts.share(filler.total_ns)));
  found.supposes = "if it went on beside the GPU's work";
  found.words.implementation_hint =
      "Do it in another thread or process, before the step that needs it, on the GPU, or less "
      "often "
      "(logging, checkpoints, metrics).";
  show(found.words, facts.trace, filler.spans);
  found.edit = [&facts, pieces = filler.pieces](Edits& edits, Effort effort) {
    for (const std::size_t piece : pieces) {
      scale_piece(edits, facts.plan, piece, pick(effort, 0.5, 0.0, 0.0));
    }
  };
  return found;
}

}  // namespace

Candidates rule_idle(const Facts& facts) {
  std::int64_t total = 0;
  std::int64_t longest = 0;
  for (const base::Interval& gap : facts.long_gaps) {
    total += gap.length();
    longest = std::max(longest, gap.length());
  }
  const bool is_idle =
      facts.share(total) >= kTriggerPct || longest >= kHugeGapNs || has_a_quiet_slice(facts);
  if (facts.long_gaps.empty() || !is_idle) return {};
  const std::map<trace::NameId, Filler> fillers = fillers_of(facts);
  Candidates found;
  for (const auto& [name, filler] : fillers) {
    if (facts.share(filler.total_ns) < kWorthPct) continue;
    found.push_back(candidate_of(facts, name, filler));
  }
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.concerns_ns > b.concerns_ns;
  });
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

}  // namespace fathom::advise
