#include "profiler/spans.h"

#include <algorithm>
#include <numeric>

#include "profiler/word_reader.h"

namespace fathom::detail {
namespace {

// Collects the scopes of one thread into `spans`; those that did not end keep end = 0.
class SpanCollector {
 public:
  SpanCollector(std::vector<ScopeSpan>& spans, const Core::Timeline& timeline)
      : spans_(spans), tid_(timeline.tid), since_(timeline.since) {}

  void begin(OperationId operation, std::uint64_t ticks, const WordNotes* notes) {
    ScopeSpan span;
    span.operation = operation;
    span.tid = tid_;
    span.start = ticks;
    if (!open_.empty()) span.parent = open_.back();
    if (notes != nullptr) span.annotations = notes->annotations;
    open_.push_back(spans_.size());
    spans_.push_back(std::move(span));
  }

  void end(std::uint64_t ticks, const WordNotes* notes) {
    if (open_.empty()) return;  // began where no words are
    ScopeSpan& span = spans_[open_.back()];
    open_.pop_back();
    if (span.start < since_) return;  // it was open at a reset
    span.end = std::max(ticks, span.start);
    if (notes == nullptr) return;
    span.instance = notes->instance;
    span.failed = notes->failed;
    span.annotations += notes->annotations;
  }

  void restart() { open_.clear(); }
  static void ended(const EndedElsewhere& /*scope*/) {}  // entries() are of scopes that are closed
  static std::size_t plain(std::span<const Word> /*words*/, WordTime& /*time*/) { return 0; }

 private:
  std::vector<ScopeSpan>& spans_;
  const std::int64_t tid_;
  const std::uint64_t since_;
  std::vector<std::size_t> open_;
};

// The earliest `limit` ends of the scopes that have one.
std::uint64_t last_end_within(const std::vector<ScopeSpan>& spans, std::size_t limit) {
  std::vector<std::uint64_t> ends;
  for (const ScopeSpan& span : spans) {
    if (span.end != 0) ends.push_back(span.end);
  }
  if (ends.size() <= limit) return UINT64_MAX;
  if (limit == 0) return 0;
  std::nth_element(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(limit - 1), ends.end());
  return ends[limit - 1];
}

}  // namespace

std::vector<ScopeSpan> read_spans(std::span<const Core::Timeline> timelines, std::size_t limit) {
  std::vector<ScopeSpan> all;
  for (const Core::Timeline& timeline : timelines) {
    SpanCollector collector(all, timeline);
    WordReader().read(timeline.words, collector);
  }
  const std::uint64_t last_end = last_end_within(all, limit);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].end != 0 && all[i].end <= last_end) order.push_back(i);
  }
  // Stable: of scopes that begin in the same tick, the outer comes first as it did in the words.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].start < all[b].start; });
  if (order.size() > limit) order.resize(limit);

  constexpr std::size_t kGone = SIZE_MAX;
  std::vector<std::size_t> place(all.size(), kGone);
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<ScopeSpan> spans;
  spans.reserve(order.size());
  for (const std::size_t from : order) {
    ScopeSpan& span = spans.emplace_back(std::move(all[from]));
    if (span.parent && place[*span.parent] == kGone) span.parent.reset();
    if (span.parent) span.parent = place[*span.parent];
  }
  return spans;
}

}  // namespace fathom::detail
