#include "profiler/summary.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/annotations.h"
#include "profiler/attribution.h"
#include "profiler/clock.h"
#include "profiler/spans.h"

namespace fathom::detail {
namespace {

Summary summary_of(const Statistics& stats, double ms_per_tick) {
  Summary summary;
  const auto in_ms = [&](auto ticks) { return static_cast<double>(ticks) * ms_per_tick; };
  summary.call_count = stats.count;
  summary.total_time_ms = in_ms(stats.total);
  summary.self_time_ms = in_ms(stats.self);
  summary.avg_time_ms = summary.total_time_ms / static_cast<double>(stats.count);
  summary.min_time_ms = in_ms(stats.shortest);
  summary.max_time_ms = in_ms(stats.longest);
  summary.std_dev_ms = in_ms(stats.standard_deviation());
  summary.p50_ms = in_ms(stats.quantile(0.50));
  summary.p95_ms = in_ms(stats.quantile(0.95));
  summary.p99_ms = in_ms(stats.quantile(0.99));
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

constexpr double kNsPerMs = 1e6;
constexpr double kBytesPerMb = 1024.0 * 1024.0;

double ms(std::int64_t ns) {
  return static_cast<double>(ns) / kNsPerMs;
}
double mb(std::int64_t bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

// Where a recorder has reported on the GPU, scopes that no work refers to spent none of their time
// on it.
void add_gpu_totals(Summary& summary, const GpuTotals& totals) {
  summary.total_gpu_time_ms = ms(totals.parts.gpu);
  summary.total_transfer_time_ms = ms(totals.parts.transfer);
  summary.total_overhead_ms = ms(totals.parts.overhead);
  summary.total_cpu_time_ms =
      std::max(0.0, summary.total_time_ms -
                        ms(totals.parts.gpu + totals.parts.transfer + totals.parts.overhead));
  if (summary.total_time_ms > 0) {
    summary.avg_gpu_utilization = *summary.total_gpu_time_ms / summary.total_time_ms;
  }
  if (totals.allocated_bytes) {
    summary.avg_memory_mb = mb(*totals.allocated_bytes) / static_cast<double>(totals.scopes);
    summary.peak_memory_mb = mb(*totals.peak_bytes);
  }
}

void add_gpu_figures(Entry& entry, const GpuFigures& figures) {
  entry.gpu_time_ms = ms(figures.parts.gpu);
  entry.transfer_time_ms = ms(figures.parts.transfer);
  entry.overhead_ms = ms(figures.parts.overhead);
  entry.cpu_time_ms = ms(figures.parts.cpu);
  if (entry.duration_ms > 0) entry.gpu_utilization = *entry.gpu_time_ms / entry.duration_ms;
  if (figures.copied_bytes > 0 && figures.parts.transfer > 0) {
    // Bytes a nanosecond are gigabytes a second.
    entry.memory_bandwidth_gb_s =
        static_cast<double>(figures.copied_bytes) / static_cast<double>(figures.parts.transfer);
  }
  if (figures.allocated_bytes) entry.memory_allocated_mb = mb(*figures.allocated_bytes);
  if (figures.peak_bytes) entry.memory_peak_mb = mb(*figures.peak_bytes);
}

// The largest of the four parts.
std::string dominating_part(const Summary& summary) {
  const std::pair<std::string_view, std::optional<double>> parts[] = {
      {"gpu", summary.total_gpu_time_ms},
      {"transfer", summary.total_transfer_time_ms},
      {"overhead", summary.total_overhead_ms},
      {"cpu", summary.total_cpu_time_ms}};
  std::string_view largest;
  double most = -1;
  for (const auto& [name, time] : parts) {
    if (time && *time > most) {
      most = *time;
      largest = name;
    }
  }
  return std::string(largest);
}

}  // namespace

Summaries summarize(const Core& core) {
  const ClockLine clock = clock_since_start();
  const Attribution gpu(core.activities.content(), clock, core.options().device_id);
  const auto totals = gpu.totals();
  Summaries summaries;
  for (const auto& [operation, stats] : core.statistics()) {
    Summary& summary = summaries[operation_name(operation)] =
        summary_of(stats, clock.ns_per_tick() / kNsPerMs);
    if (gpu.measured()) {
      const auto found = totals.find(operation);
      add_gpu_totals(summary, found != totals.end() ? found->second : GpuTotals{});
    } else if (!core.activities.is_gpu_operation(operation)) {
      // By their own word these scopes are the CPU's alone.
      summary.total_cpu_time_ms = summary.total_time_ms;
    }
  }
  return summaries;
}

std::vector<Bottleneck> find_bottlenecks(const Summaries& summaries, std::size_t top_n) {
  std::vector<Bottleneck> all;
  double whole = 0;
  for (const auto& [operation, summary] : summaries) {
    whole += summary.self_time_ms;
    all.push_back(
        {operation, summary.call_count, summary.self_time_ms, 0, 0, dominating_part(summary)});
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
  const Options options = core.options();
  const std::vector<ScopeSpan> spans = read_spans(core.timelines(), options.max_entries);
  const ClockLine clock = clock_since_start();
  const Attribution gpu(core.activities.content(), clock, options.device_id);
  const std::int64_t unix_offset = unix_ns() - monotonic_raw_ns();
  std::vector<Entry> entries;
  entries.reserve(spans.size());
  for (const ScopeSpan& span : spans) {
    const base::Interval wall{clock.ns(span.start), clock.ns(span.end)};
    Entry& entry = entries.emplace_back();
    entry.operation = operation_name(span.operation);
    entry.start_time = wall.begin + unix_offset;
    entry.end_time = wall.end + unix_offset;
    entry.duration_ms = ms(wall.length());
    entry.thread = span.tid;
    entry.parent = span.parent;
    entry.failed = span.failed;
    add_attributes(entry, span.annotations);
    if (gpu.measured()) {
      add_gpu_figures(entry, gpu.figures(span.instance, span.tid, wall));
    } else if (entry.device == "cpu") {
      entry.cpu_time_ms = entry.duration_ms;
    }
  }
  return entries;
}

}  // namespace fathom::detail
