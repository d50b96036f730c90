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

// Where a recorder has reported on the GPU, scopes that no work refers to spent none of their time
// on it: the sums of the others are the operation's, and the rest of its time is the CPU's.
void add_gpu_totals(OperationFigures& figures, const GpuTotals& totals) {
  figures.set_parts(totals.parts);
  figures.cpu_ns = std::max(0.0, figures.total_ns.value_or(0) - *figures.gpu_ns -
                                     *figures.transfer_ns - *figures.overhead_ns);
  if (totals.allocated_bytes) {
    figures.avg_memory_bytes =
        static_cast<double>(*totals.allocated_bytes) / static_cast<double>(totals.scopes);
    figures.peak_memory_bytes = static_cast<double>(*totals.peak_bytes);
  }
}

// The largest of the four parts.
std::string dominating_part(const OperationFigures& figures) {
  const std::pair<std::string_view, std::optional<double>> parts[] = {
      {"gpu", figures.gpu_ns},
      {"transfer", figures.transfer_ns},
      {"overhead", figures.overhead_ns},
      {"cpu", figures.cpu_ns}};
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
    OperationFigures& figures = summaries[operation_name(operation)] =
        stats.figures(clock.ns_per_tick());
    if (gpu.measured()) {
      const auto found = totals.find(operation);
      add_gpu_totals(figures, found != totals.end() ? found->second : GpuTotals{});
    } else if (!core.activities.is_gpu_operation(operation)) {
      // By their own word these scopes are the CPU's alone.
      figures.cpu_ns = figures.total_ns;
    }
  }
  return summaries;
}

std::vector<Bottleneck> find_bottlenecks(const Summaries& summaries, std::size_t top_n) {
  std::vector<Bottleneck> all;
  double whole = 0;
  for (const auto& [operation, figures] : summaries) {
    const double self_ns = figures.self_ns.value_or(0);  // always known of what was measured here
    whole += self_ns;
    all.push_back({operation, figures.calls, self_ns, 0, 0, dominating_part(figures)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.self_ns > b.self_ns; });
  double cumulative = 0;
  for (Bottleneck& each : all) {
    if (whole > 0) each.share = each.self_ns / whole;
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
    entry.duration_ns = wall.length();
    entry.thread = span.tid;
    entry.parent = span.parent;
    entry.failed = span.failed;
    add_attributes(entry, span.annotations);
    if (gpu.measured()) {
      static_cast<CallFigures&>(entry) = gpu.figures(span.instance, span.tid, wall);
    } else if (entry.device == "cpu") {
      entry.cpu_ns = entry.duration_ns;
    }
  }
  return entries;
}

}  // namespace fathom::detail
