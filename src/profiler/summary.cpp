#include "profiler/summary.h"

#include <algorithm>

#include "profiler/annotations.h"
#include "profiler/clock.h"
#include "profiler/spans.h"

namespace fathom::detail {
namespace {

Summary summary_of(const Statistics& stats, double ms_per_tick) {
  Summary summary;
  const auto ms = [&](auto ticks) { return static_cast<double>(ticks) * ms_per_tick; };
  summary.call_count = stats.count;
  summary.total_time_ms = ms(stats.total);
  summary.self_time_ms = ms(stats.self);
  summary.avg_time_ms = summary.total_time_ms / static_cast<double>(stats.count);
  summary.min_time_ms = ms(stats.shortest);
  summary.max_time_ms = ms(stats.longest);
  summary.std_dev_ms = ms(stats.standard_deviation());
  summary.p50_ms = ms(stats.quantile(0.50));
  summary.p95_ms = ms(stats.quantile(0.95));
  summary.p99_ms = ms(stats.quantile(0.99));
  summary.error_count = stats.failed;
  return summary;
}

// `device`, `backend` and what else the scope said.
void add_attributes(Entry& entry, std::string_view annotations) {
  for (Attribute& attribute : read_annotations(annotations)) {
    const auto* const text = std::get_if<std::string>(&attribute.value);
    if (attribute.name == "device" && text != nullptr) {
      entry.device = *text;
    } else if (attribute.name == "backend" && text != nullptr) {
      entry.backend = *text;
    } else {
      entry.attributes.push_back(std::move(attribute));
    }
  }
}

}  // namespace

Summaries summarize(const Core& core) {
  const double ms_per_tick = clock_since_start().ns_per_tick() / 1e6;
  Summaries summaries;
  for (const auto& [operation, stats] : core.statistics()) {
    summaries.emplace(operation_name(operation), summary_of(stats, ms_per_tick));
  }
  return summaries;
}

std::vector<Bottleneck> find_bottlenecks(const Summaries& summaries, std::size_t top_n) {
  std::vector<Bottleneck> all;
  double whole = 0;
  for (const auto& [operation, summary] : summaries) {
    whole += summary.self_time_ms;
    all.push_back({operation, summary.call_count, summary.self_time_ms, 0, 0, {}});
  }
  std::stable_sort(all.begin(), all.end(), [](const Bottleneck& a, const Bottleneck& b) {
    return a.self_time_ms > b.self_time_ms;
  });
  double cumulative = 0;
  for (Bottleneck& each : all) {
    if (whole > 0) each.share = each.self_time_ms / whole;
    cumulative += each.share;
    each.cumulative_share = cumulative;
  }
  if (all.size() > top_n) all.resize(top_n);
  return all;
}

std::vector<Entry> list_entries(const Core& core) {
  const std::vector<ScopeSpan> spans = read_spans(core.timelines(), core.options().max_entries);
  const ClockLine clock = clock_since_start();
  const std::int64_t unix_offset = unix_ns() - monotonic_raw_ns();
  std::vector<Entry> entries;
  entries.reserve(spans.size());
  for (const ScopeSpan& span : spans) {
    Entry& entry = entries.emplace_back();
    entry.operation = operation_name(span.operation);
    entry.start_time = clock.ns(span.start) + unix_offset;
    entry.end_time = clock.ns(span.end) + unix_offset;
    entry.duration_ms = static_cast<double>(entry.end_time - entry.start_time) / 1e6;
    entry.thread = span.tid;
    entry.parent = span.parent;
    entry.failed = span.failed;
    add_attributes(entry, span.annotations);
  }
  return entries;
}

}  // namespace fathom::detail
