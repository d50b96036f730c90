#include "report/page/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analyze/operations/steps.h"
#include "analyze/run/split.h"
#include "base/format.h"
#include "report/hta_story.h"
#include "report/memory_report.h"

namespace fathom::report {
namespace {

using analyze::percent_of;
using analyze::RankFindings;
using base::format_percent;
using base::format_plural;

std::string join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::uint64_t longest_queue(const RankFindings& rank) {
  std::uint64_t longest = 0;
  for (const analyze::QueueLength& queue : rank.queues) longest = std::max(longest, queue.max);
  return longest;
}

// How long work waited from its launch to its start, where the launches are known.
void add_launch_card(PageStory& story, const RankFindings& rank) {
  const base::DurationStats& delay = rank.launches.all.delay;
  if (delay.count() == 0) return;
  story.cards.push_back({"Launch delay p50", base::format_duration(delay.quantile_ns(0.5)),
                         fmt::format("queue ≤ {} deep", base::format_count(longest_queue(rank)))});
}

void add_gpu_cards(PageStory& story, const HtaReport& hta) {
  const analyze::Temporal& time = *hta.summary.temporal;
  const auto gpus = static_cast<std::int64_t>(hta.ranks.size());
  const auto card = [&](const char* label, std::int64_t ns, std::string note) {
    story.cards.push_back({label, format_percent(percent_of(ns, time.total_ns)), std::move(note)});
  };
  const std::int64_t busy = time.total_ns - time.idle_ns;
  card("GPU busy", busy,
       gpus == 1 ? fmt::format("{} of {}", base::format_duration(busy),
                               base::format_duration(time.total_ns))
                 : fmt::format("mean of {} GPUs", gpus));
  card("Compute", time.compute_ns, base::format_duration(time.compute_ns));
  const std::optional<double>& overlap = hta.summary.comm_comp_overlap_pct;
  card("Communication", time.communication_ns,
       overlap ? fmt::format("{:.0f} % of it overlapped", *overlap) : std::string("none"));
  card("Copies", time.memory_ns, base::format_duration(time.memory_ns));
  card("Idle", time.idle_ns,
       fmt::format("{:.0f} % host wait", percent_of(hta.summary.idle.host_wait_ns, time.idle_ns)));
}

// The mean over GPUs, where there are several.
void add_gpu_ring(PageStory& story, const HtaReport& hta) {
  const analyze::Temporal& time = *hta.summary.temporal;
  const auto gpus = static_cast<std::int64_t>(hta.ranks.size());
  story.ring_caption = gpus == 1 ? "GPU timeline" : "a GPU, on average";
  story.ring_total_ns = time.total_ns / gpus;
  story.ring = {{"compute", "gpu", time.compute_ns / gpus},
                {"communication", "comm", time.communication_ns / gpus},
                {"copies", "transfer", time.memory_ns / gpus},
                {"idle", "idle", time.idle_ns / gpus}};
}

std::uint64_t work_count(const HtaReport& hta) {
  std::uint64_t calls = 0;
  for (const analyze::KernelStats& kernel : hta.summary.kernels) calls += kernel.durations.count();
  return calls;
}

void add_steps(std::vector<std::string>& parts, const HtaReport& hta, const RunReport& report) {
  if (hta.ranks.empty() || hta.ranks.front().steps == 0) return;
  parts.push_back(format_plural(hta.ranks.front().steps, "step", "steps"));
  for (const analyze::Operation& operation : report.operations) {
    const bool is_step =
        operation.kind == trace::SpanKind::annotation && operation.name == analyze::kStepName;
    if (!is_step) continue;
    parts.push_back(base::format_duration(operation.durations.mean_ns()) + " per step");
    return;
  }
}

void tell_gpu_story(PageStory& story, const RunReport& report, const HtaReport& hta) {
  const analyze::Temporal& time = *hta.summary.temporal;
  const std::size_t gpus = hta.ranks.size();
  const double busy = 100 - percent_of(time.idle_ns, time.total_ns);
  story.headline = fmt::format(
      "{} busy {} of {}{}.{}", gpus == 1 ? "The GPU was" : fmt::format("The {} GPUs were", gpus),
      format_percent(busy), base::format_duration(time.total_ns / static_cast<std::int64_t>(gpus)),
      gpus == 1 ? "" : " on average", idle_sentence(hta.summary));
  std::vector<std::string> parts;
  add_steps(parts, hta, report);
  parts.push_back(format_plural(work_count(hta), "kernel or copy", "kernels and copies"));
  parts.push_back(format_plural(report.activity.gpu_streams, "stream", "streams"));
  if (report.activity.threads > 0) {
    parts.push_back(format_plural(report.activity.threads, "thread", "threads"));
  }
  parts.push_back(base::format_duration(report.activity.end_ns - report.activity.begin_ns) +
                  " recorded");
  story.detail = join(parts);
  add_gpu_cards(story, hta);
  if (gpus == 1) add_launch_card(story, hta.ranks.front());
  add_gpu_ring(story, hta);
}

void tell_host_story(PageStory& story, const RunReport& report, const trace::Trace& trace) {
  const base::Interval run{report.activity.begin_ns, report.activity.end_ns};
  const TimeParts parts = analyze::split(trace, std::span(&run, 1)).front();
  const std::string spans = format_plural(trace.spans.size(), "span", "spans");
  const std::string threads = format_plural(report.activity.threads, "thread", "threads");
  story.headline = fmt::format("This trace has no GPU work: {} on {}.", spans, threads);
  story.detail = base::format_duration(run.length()) + " recorded";
  story.cards = {{"Recorded", base::format_duration(run.length()), "first start to last end"},
                 {"Spans", base::format_count(trace.spans.size()), "on " + threads},
                 {"Operations", base::format_count(report.operations.size()), "names"}};
  if (parts.overhead_ns == 0) return;  // a ring of one colour says nothing
  story.ring_caption = "the run";
  story.ring_total_ns = run.length();
  story.ring = {{"CPU", "cpu", parts.cpu_ns}, {"GPU runtime", "overhead", parts.overhead_ns}};
}

// A snapshot of an allocator, or a program of which nothing but its memory is known.
bool is_about_memory(const trace::Trace& trace, const HtaReport& hta,
                     const analyze::Memory& memory) {
  const analyze::DeviceMemory* const device = main_device(memory);
  const bool is_of_gpu = device != nullptr && device->device == trace::MemoryDevice::gpu;
  if (trace.spans.size() > 0) return is_of_gpu && !hta.summary.temporal;
  return trace.operations.empty() && (device != nullptr || !memory.rss.empty());
}

}  // namespace

PageStory page_story(const RunReport& report, const trace::Trace& trace, const HtaReport& hta,
                     const analyze::Memory& memory) {
  PageStory story;
  if (is_about_memory(trace, hta, memory)) {
    const MemoryStory told = memory_story(memory, trace);
    story.headline = told.headline;
    story.detail = told.detail;
  } else if (trace.spans.size() == 0) {
    story.headline =
        trace.operations.empty()
            ? "No spans in this file."
            : fmt::format("A summary of {}, without a timeline.",
                          format_plural(trace.operations.size(), "operation", "operations"));
  } else if (hta.summary.temporal) {
    tell_gpu_story(story, report, hta);
  } else {
    tell_host_story(story, report, trace);
  }
  const analyze::DeviceMemory* const device = main_device(memory);
  if (device == nullptr) return story;
  if (story.cards.empty()) {
    story.cards = memory_cards(*device, memory, trace);
  } else {
    story.cards.push_back(peak_memory_card(*device, trace));
  }
  return story;
}

PageStory page_story(const HtaReport& hta) {
  PageStory story;
  story.headline = hta_story(hta);
  if (!hta.summary.temporal) return story;
  std::vector<std::string> parts;
  parts.push_back(format_plural(hta.ranks.size(), "GPU", "GPUs"));
  if (const RankFindings& first = hta.ranks.front(); first.steps > 0) {
    parts.push_back(
        format_plural(first.steps - (first.leaves_out_last_step ? 1 : 0), "step", "steps") +
        (first.leaves_out_last_step ? ", the last left out" : ""));
  }
  parts.push_back(format_plural(work_count(hta), "kernel or copy", "kernels and copies"));
  story.detail = join(parts);
  add_gpu_cards(story, hta);
  if (hta.ranks.size() == 1) add_launch_card(story, hta.ranks.front());
  add_gpu_ring(story, hta);
  return story;
}

}  // namespace fathom::report
