#include "report/page/story.h"

#include <fmt/format.h>

#include <algorithm>

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
                         fmt::format("queue ≤ {} deep", base::format_count(longest_queue(rank))),
                         "timeline"});
}

// The mean over GPUs, where there are several: the parts of the ring, and what the cards show.
struct MeanShares {
  explicit MeanShares(const std::vector<GpuOfRun>& gpus) {
    const auto count = static_cast<std::int64_t>(gpus.size());
    for (const GpuOfRun& one : gpus) {
      compute_ns += one.gpu->compute_ns;
      communication_ns += one.gpu->communication.ns;
      copy_ns += one.gpu->copy.ns;
      idle_ns += one.gpu->idle_ns;
    }
    for (std::int64_t* part : {&compute_ns, &communication_ns, &copy_ns, &idle_ns}) *part /= count;
  }

  std::int64_t wall_ns() const { return compute_ns + communication_ns + copy_ns + idle_ns; }

  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t idle_ns = 0;
};

void add_gpu_cards(PageStory& story, const HtaReport& hta, const std::vector<GpuOfRun>& gpus) {
  const MeanShares mean(gpus);
  const auto card = [&](const char* label, std::int64_t ns, std::string note, const char* to) {
    story.cards.push_back(
        {label, format_percent(percent_of(ns, mean.wall_ns())), std::move(note), to});
  };
  const auto of_run = [&](std::int64_t ns) {
    return gpus.size() == 1 ? fmt::format("{} of {}", base::format_duration(ns),
                                          base::format_duration(mean.wall_ns()))
                            : fmt::format("mean of {} GPUs", gpus.size());
  };
  card("Compute", mean.compute_ns, of_run(mean.compute_ns), "kernels");
  const std::optional<double>& overlap = hta.summary.comm_comp_overlap_pct;
  card("Exposed communication", mean.communication_ns,
       overlap ? fmt::format("{:.0f} % of communication is hidden", *overlap) : std::string("none"),
       "kernels?class=communication");
  card("Exposed copies", mean.copy_ns, base::format_duration(mean.copy_ns), "kernels?class=copy");
  card("Idle", mean.idle_ns, base::format_duration(mean.idle_ns), "suggestions");
}

void add_gpu_ring(PageStory& story, const std::vector<GpuOfRun>& gpus) {
  const MeanShares mean(gpus);
  story.ring_caption = gpus.size() == 1 ? "the run" : "a GPU, on average";
  story.ring_total_ns = mean.wall_ns();
  story.ring = {{"compute", "gpu", mean.compute_ns},
                {"exposed communication", "comm", mean.communication_ns},
                {"exposed copies", "transfer", mean.copy_ns},
                {"idle", "idle", mean.idle_ns}};
}

std::uint64_t work_count(const HtaReport& hta) {
  std::uint64_t calls = 0;
  for (const analyze::KernelStats& kernel : hta.summary.kernels) calls += kernel.durations.count();
  return calls;
}

// How long a step takes is the time from one to the next on the GPU: the host may run ahead.
void add_steps(std::vector<std::string>& parts, const RunReport& report) {
  if (report.steps.empty()) return;
  parts.push_back(format_plural(report.steps.size(), "step", "steps"));
  if (report.shares.step_ns) {
    parts.push_back(base::format_duration(*report.shares.step_ns) + " per step");
  }
}

void tell_gpu_story(PageStory& story, const RunReport& report, const HtaReport& hta) {
  const std::vector<GpuOfRun> gpus = gpus_of(report.shares, report.by_gpu);
  story.headline = gpu_story(gpus);
  std::vector<std::string> parts;
  add_steps(parts, report);
  parts.push_back(format_plural(work_count(hta), "kernel or copy", "kernels and copies"));
  parts.push_back(format_plural(report.activity.gpu_streams, "stream", "streams"));
  if (report.activity.threads > 0) {
    parts.push_back(format_plural(report.activity.threads, "thread", "threads"));
  }
  parts.push_back(base::format_duration(report.activity.end_ns - report.activity.begin_ns) +
                  " recorded");
  story.detail = join(parts);
  add_gpu_cards(story, hta, gpus);
  if (gpus.size() == 1) add_launch_card(story, hta.ranks.front());
  add_gpu_ring(story, gpus);
}

void tell_host_story(PageStory& story, const RunReport& report, const explain::Analysis& analysis) {
  const trace::Trace& trace = analysis.trace();
  const std::int64_t recorded_ns = report.activity.end_ns - report.activity.begin_ns;
  const std::string spans = format_plural(trace.spans.size(), "span", "spans");
  const std::string threads = format_plural(report.activity.threads, "thread", "threads");
  story.headline = report.session.gpu_ns
                       ? story_without_work(report.shares)
                       : fmt::format("This trace has no GPU work: {} on {}.", spans, threads);
  story.detail = base::format_duration(recorded_ns) + " recorded";
  story.cards = {{"Recorded", base::format_duration(recorded_ns), "first start to last end"},
                 {"Spans", base::format_count(trace.spans.size()), "on " + threads},
                 {"Operations", base::format_count(report.operations.size()), "names"}};
  const TimeParts& parts = analysis.recorded_parts();
  if (parts.overhead_ns == 0) return;  // a ring of one colour says nothing
  story.ring_caption = "the run";
  story.ring_total_ns = recorded_ns;
  story.ring = {{"CPU", "cpu", parts.cpu_ns}, {"GPU runtime", "overhead", parts.overhead_ns}};
}

// A snapshot of an allocator, or a program of which nothing but its memory is known.
bool is_about_memory(const trace::Trace& trace, const HtaReport& hta,
                     const analyze::Memory& memory) {
  const analyze::DeviceMemory* const device = main_device(memory);
  const bool is_of_gpu = device != nullptr && device->device == trace::MemoryDevice::gpu;
  if (trace.spans.size() > 0) return is_of_gpu && !hta.summary.in_run;
  return trace.operations.empty() && (device != nullptr || !memory.rss.empty());
}

}  // namespace

PageStory page_story(const RunReport& report, const HtaReport& hta,
                     const explain::Analysis& analysis) {
  const trace::Trace& trace = analysis.trace();
  const analyze::Memory& memory = analysis.memory();
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
  } else if (!report.shares.gpus.empty()) {
    tell_gpu_story(story, report, hta);
  } else {
    tell_host_story(story, report, analysis);
  }
  const analyze::DeviceMemory* const device = main_device(memory);
  if (device == nullptr) return story;
  if (story.cards.empty()) {
    story.cards = memory_cards(*device, memory, trace);
  } else {
    story.cards.push_back(peak_memory_card(*device, trace));
    story.cards.back().to = "memory";
  }
  return story;
}

PageStory page_story(const HtaReport& hta) {
  PageStory story;
  story.headline = hta_story(hta);
  if (!hta.summary.in_run) return story;
  std::vector<std::string> parts;
  parts.push_back(format_plural(hta.ranks.size(), "GPU", "GPUs"));
  if (const RankFindings& first = hta.ranks.front(); first.steps > 0) {
    parts.push_back(format_plural(first.steps, "step", "steps"));
  }
  parts.push_back(format_plural(work_count(hta), "kernel or copy", "kernels and copies"));
  story.detail = join(parts);
  const std::vector<GpuOfRun> gpus = gpus_of(hta);
  add_gpu_cards(story, hta, gpus);
  if (gpus.size() == 1) add_launch_card(story, hta.ranks.front());
  add_gpu_ring(story, gpus);
  return story;
}

}  // namespace fathom::report
