#include "report/page_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/split.h"
#include "base/format.h"
#include "base/interval_set.h"

namespace fathom::report {
namespace {

using base::format_duration;
using base::format_percent;
using base::format_plural;
using base::Interval;
using trace::SpanId;
using trace::SpanKind;

// The time of the GPUs' window, each instant once: computing, else communicating, else copying,
// else idle. With several GPUs the mean over them.
struct GpuTime {
  std::int64_t window_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t copies_ns = 0;
  std::int64_t idle_ns = 0;
};

GpuTime gpu_time(const RunReport& report, const trace::Trace& trace) {
  struct Work {
    std::vector<Interval> compute, communication, copies;
  };
  std::map<std::pair<std::int64_t, std::string>, Work> gpus;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const SpanKind kind = trace.spans.kind[id];
    if (!trace::is_gpu_work(kind)) continue;
    const trace::Track& track = trace.tracks[trace.spans.track[id]];
    Work& work = gpus[{track.device.value_or(track.pid), track.pid_text}];
    std::vector<Interval>& list = kind != SpanKind::kernel           ? work.copies
                                  : is_communication(trace.name(id)) ? work.communication
                                                                     : work.compute;
    list.push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
  }
  GpuTime time;
  const auto count = static_cast<std::int64_t>(gpus.size());
  for (auto& [gpu, work] : gpus) {
    const base::IntervalSet compute = base::normalize(std::move(work.compute));
    const base::IntervalSet communication = base::normalize(std::move(work.communication));
    const base::IntervalSet copies = base::normalize(std::move(work.copies));
    time.compute_ns += base::total_length(compute) / count;
    time.communication_ns += base::total_length(base::subtract(communication, compute)) / count;
    time.copies_ns +=
        base::total_length(base::subtract(copies, base::unite(compute, communication))) / count;
  }
  time.window_ns = report.activity.gpu_window_ns.value_or(0);
  time.idle_ns = time.window_ns - time.compute_ns - time.communication_ns - time.copies_ns;
  return time;
}

std::uint64_t step_count(const RunReport& report) {
  for (const analyze::Operation& operation : report.operations) {
    const bool is_step =
        operation.kind == SpanKind::annotation && operation.name == "ProfilerStep#";
    if (is_step) return operation.durations.count();
  }
  return 0;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string duration(std::int64_t ns) {
  return format_duration(static_cast<double>(ns));
}

std::uint64_t gpu_calls(const RunReport& report) {
  std::uint64_t calls = 0;
  for (const analyze::Operation& operation : report.operations) {
    if (trace::is_gpu_work(operation.kind)) calls += operation.durations.count();
  }
  return calls;
}

std::string join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::string run_detail(const RunReport& report, const trace::Trace& trace) {
  std::vector<std::string> parts;
  if (const std::uint64_t steps = step_count(report)) {
    parts.push_back(format_plural(steps, "step", "steps"));
  }
  if (const std::uint64_t calls = gpu_calls(report)) {
    parts.push_back(format_plural(calls, "kernel or copy", "kernels and copies"));
    parts.push_back(format_plural(report.activity.gpu_streams, "stream", "streams"));
  }
  parts.push_back(format_plural(report.activity.threads, "thread", "threads"));
  parts.push_back(format_plural(trace.spans.size(), "span", "spans"));
  parts.push_back(duration(report.activity.end_ns - report.activity.begin_ns) + " recorded");
  return join(parts);
}

void tell_gpu_story(PageStory& story, const RunReport& report, const trace::Trace& trace) {
  const GpuTime time = gpu_time(report, trace);
  const std::int64_t busy = time.window_ns - time.idle_ns;
  const std::size_t gpus = report.activity.gpus.size();
  story.headline = fmt::format(
      "{} {} of {}.",
      gpus == 1 ? "The GPU was busy" : fmt::format("The {} GPUs were busy, on average,", gpus),
      format_percent(share(busy, time.window_ns)), duration(time.window_ns));
  story.detail = run_detail(report, trace);
  const auto card = [&](const char* label, std::int64_t ns) {
    story.cards.push_back({label, format_percent(share(ns, time.window_ns)), duration(ns)});
  };
  story.cards.push_back({"GPU busy", format_percent(share(busy, time.window_ns)),
                         fmt::format("{} of {}", duration(busy), duration(time.window_ns))});
  card("Compute", time.compute_ns);
  card("Communication", time.communication_ns);
  card("Copies", time.copies_ns);
  card("Idle", time.idle_ns);
  story.ring_caption = gpus == 1 ? "GPU timeline" : "GPU timeline, mean";
  story.ring_total_ns = time.window_ns;
  story.ring = {{"compute", "gpu", time.compute_ns},
                {"communication", "comm", time.communication_ns},
                {"copies", "transfer", time.copies_ns},
                {"idle", "idle", time.idle_ns}};
}

void tell_host_story(PageStory& story, const RunReport& report, const trace::Trace& trace) {
  const Interval run{report.activity.begin_ns, report.activity.end_ns};
  const analyze::Split parts = analyze::split(trace, std::span(&run, 1)).front();
  story.headline =
      fmt::format("No GPU work here: {} on {}.", format_plural(trace.spans.size(), "span", "spans"),
                  format_plural(report.activity.threads, "thread", "threads"));
  story.detail = run_detail(report, trace);
  story.cards = {{"Recorded", duration(run.length()), "first start to last end"},
                 {"Spans", base::format_count(trace.spans.size()),
                  format_plural(report.operations.size(), "operation", "operations")}};
  if (parts.overhead_ns == 0) return;  // a ring of one colour says nothing
  story.ring_caption = "the run";
  story.ring_total_ns = run.length();
  story.ring = {{"CPU", "cpu", parts.cpu_ns}, {"GPU runtime", "overhead", parts.overhead_ns}};
}

}  // namespace

bool is_communication(std::string_view kernel_name) {
  return kernel_name.find("nccl") != std::string_view::npos ||
         kernel_name.find("rccl") != std::string_view::npos;
}

PageStory page_story(const RunReport& report, const trace::Trace& trace) {
  PageStory story;
  if (trace.spans.size() == 0) {
    story.headline =
        trace.operations.empty()
            ? "No spans in this file."
            : fmt::format("A summary of {}, without a timeline.",
                          format_plural(trace.operations.size(), "operation", "operations"));
  } else if (report.activity.gpu_window_ns) {
    tell_gpu_story(story, report, trace);
  } else {
    tell_host_story(story, report, trace);
  }
  return story;
}

}  // namespace fathom::report
