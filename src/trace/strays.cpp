#include "trace/strays.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "trace/filter.h"

namespace fathom::trace {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr std::int64_t kFactor = 1000;
constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kFewestSpans = 3;  // of two, none is more alone than the other

struct Range {
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;

  bool has(std::int64_t time_ns) const { return time_ns >= first_ns && time_ns <= last_ns; }
};

// Of times that lie anywhere in 64 bits.
std::int64_t distance(std::int64_t from, std::int64_t to) {
  std::int64_t result = 0;
  return __builtin_sub_overflow(to, from, &result) ? kLatest : result;
}

bool lasts_long(const Trace& trace) {
  std::int64_t first = kLatest;
  std::int64_t last = kEarliest;
  for (const std::int64_t start : trace.spans.start_ns) {
    first = std::min(first, start);
    last = std::max(last, start);
  }
  return distance(first, last) > kHourNs;
}

// Where the spans begin that are no strays; nothing where there are no others.
std::optional<Range> dense_range(const Trace& trace) {
  std::vector<std::int64_t> starts = trace.spans.start_ns;
  std::sort(starts.begin(), starts.end());
  const std::size_t few = std::max<std::size_t>(1, starts.size() / 10);
  std::size_t first = few;
  std::size_t last = starts.size() - 1 - few;
  const std::int64_t middle = distance(starts[first], starts[last]);
  const std::int64_t far =
      middle > kLatest / kFactor ? kLatest : std::max(kHourNs, middle * kFactor);
  while (first > 0 && distance(starts[first - 1], starts[first]) <= far) --first;
  while (last + 1 < starts.size() && distance(starts[last], starts[last + 1]) <= far) ++last;
  if (first == 0 && last + 1 == starts.size()) return std::nullopt;
  // What is no span may lie a little outside of them.
  Range range;
  if (__builtin_sub_overflow(starts[first], far, &range.first_ns)) range.first_ns = kEarliest;
  if (__builtin_add_overflow(starts[last], far, &range.last_ns)) range.last_ns = kLatest;
  return range;
}

bool is_possible(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 42;
  return bytes >= -kMost && bytes <= kMost;
}

}  // namespace

void set_aside_impossible_bytes(Trace& trace) {
  std::uint64_t count = std::erase_if(trace.bytes, [](const SpanBytes& item) {
    return !is_possible(item.bytes) || item.bytes < 0;
  });
  count += std::erase_if(trace.memory,
                         [](const MemoryEvent& event) { return !is_possible(event.bytes); });
  for (MemoryEvent& event : trace.memory) {
    for (std::optional<std::int64_t>* total : {&event.total_allocated, &event.total_reserved}) {
      if (!*total || is_possible(**total)) continue;
      total->reset();
      ++count;
    }
  }
  trace.warnings.add(WarningKind::impossible_bytes, kNowhere, count);
}

void set_aside_impossible_times(Trace& trace) {
  constexpr double kMostInAll = 4.6e18;  // 2^62
  const Spans& spans = trace.spans;
  double sum = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (SpanId id = 0; id < spans.size(); ++id) {
    sum += static_cast<double>(spans.duration_ns[id]);
    first = std::min(first, spans.start_ns[id]);
    last = std::max(last, spans.end_ns(id));
  }
  std::uint64_t count = 0;
  const std::int64_t base = trace.run.base_time_ns.value_or(0);
  std::int64_t ignored = 0;
  if (__builtin_add_overflow(base, first, &ignored) ||
      __builtin_add_overflow(base, last, &ignored)) {
    trace.run.base_time_ns.reset();
    ++count;
  }
  if (sum > kMostInAll) {
    const auto most = static_cast<std::int64_t>(kMostInAll / static_cast<double>(spans.size()));
    count += spans.size();
    keep_spans(trace, [&](SpanId id) { return spans.duration_ns[id] <= most; });
    count -= spans.size();
  }
  if (count > 0) trace.warnings.add(WarningKind::bad_number, kNowhere, count);
}

void set_aside_strays(Trace& trace) {
  if (trace.run.begin_ns || trace.spans.size() < kFewestSpans || !lasts_long(trace)) return;
  const std::optional<Range> dense = dense_range(trace);
  if (!dense) return;
  const Spans& spans = trace.spans;
  std::uint64_t strays = spans.size();
  keep_spans(trace, [&](SpanId id) {
    return dense->has(spans.start_ns[id]) || dense->has(spans.end_ns(id));
  });
  strays -= spans.size();
  const auto take_out = [&](auto& items) {
    strays += std::erase_if(items, [&](const auto& item) { return !dense->has(item.time_ns); });
  };
  take_out(trace.instants);
  take_out(trace.memory);
  take_out(trace.flows);
  for (Counter& counter : trace.counters) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
      if (!dense->has(counter.time_ns[i])) continue;
      counter.time_ns[to] = counter.time_ns[i];
      counter.value[to++] = counter.value[i];
    }
    strays += counter.time_ns.size() - to;
    counter.time_ns.resize(to);
    counter.value.resize(to);
  }
  trace.warnings.add(WarningKind::stray_time, kNowhere, strays);
}

}  // namespace fathom::trace
