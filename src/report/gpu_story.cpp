#include "report/gpu_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/printable.h"
#include "report/efficiency_report.h"

namespace fathom::report {
namespace {

using analyze::GpuShares;
using analyze::IdleCause;
using analyze::IdleTime;
using analyze::RunShares;
using base::format_duration;
using base::format_percent;
using base::format_plural;

constexpr std::size_t kNameColumns = 60;
constexpr double kMuchHiddenPct = 10;  // of the run
constexpr std::array<const char*, 3> kKinds = {"idle", "exposed communication", "exposed copies"};

std::int64_t loss_ns(const GpuShares& gpu, LossKind kind) {
  if (kind == LossKind::communication) return gpu.communication.ns;
  return kind == LossKind::copies ? gpu.copy.ns : gpu.idle_ns;
}

std::string name_text(const std::string& name) {
  return base::fit(name, kNameColumns);
}

// "84.6–85.4 %"; one figure where both are the same.
std::string range_text(double low, double high) {
  const std::string last = format_percent(high);
  const std::string first = format_percent(low);
  if (first == last) return last;
  return first.substr(0, first.rfind(' ')) + "–" + last;
}

// How much of each step that is; empty where there are not several.
std::string per_step_text(std::int64_t ns, const RunShares& run) {
  const auto wall = static_cast<double>(run.wall.length_ns());
  if (!run.step_ns || wall <= 0) return {};
  const auto step = static_cast<double>(*run.step_ns);
  return fmt::format("; {} of each step of {}",
                     format_duration(static_cast<double>(ns) / wall * step), format_duration(step));
}

std::string communication_text(const GpuShares& gpu, const RunShares& run) {
  const analyze::ExposedWork& work = gpu.communication;
  return fmt::format("mostly {} ({}, {}){}", name_text(work.what),
                     format_plural(work.calls, "call", "calls"), format_duration(work.what_ns),
                     per_step_text(work.ns, run));
}

std::string copies_text(const GpuShares& gpu) {
  const analyze::ExposedWork& work = gpu.copy;
  std::string text = fmt::format("mostly {} ({}", name_text(work.what),
                                 format_plural(work.calls, "copy", "copies"));
  if (work.bytes && *work.bytes > 0 && work.work_ns > 0) {
    text += fmt::format(" at {:.1f} GB/s",
                        static_cast<double>(*work.bytes) / static_cast<double>(work.work_ns));
  }
  return text + ", " + format_duration(work.what_ns) + ")";
}

// Bound by its launches is a GPU that waits for them most of the time it does not compute, all
// along; one that runs out of work in places is not.
std::string launch_text(const GpuShares& gpu) {
  const IdleTime& idle = gpu.idle_by(IdleCause::launch);
  const bool is_slow =
      gpu.launch_period_ns && gpu.kernel_ns && *gpu.launch_period_ns > *gpu.kernel_ns;
  if (is_slow && gpu.pct(idle.ns) >= analyze::kLaunchBoundPct) {
    return fmt::format("launch-bound, {} launches {} apart for kernels of {} (medians)",
                       base::format_count(gpu.launches), format_duration(*gpu.launch_period_ns),
                       format_duration(*gpu.kernel_ns));
  }
  return fmt::format("{} in {} before work that the host launched late", format_duration(idle.ns),
                     format_plural(idle.gaps, "gap", "gaps"));
}

std::string code_text(const IdleTime& idle) {
  if (idle.what.empty()) {
    return fmt::format("{} in which nothing was recorded on the host", format_duration(idle.ns));
  }
  return fmt::format("{} while the host ran code that launches nothing, mostly {} ({})",
                     format_duration(idle.ns), name_text(idle.what), format_duration(idle.what_ns));
}

std::string sync_text(const IdleTime& idle) {
  std::string text = fmt::format("{} in {} after the host had waited for the GPU, mostly in {}",
                                 format_duration(idle.ns), format_plural(idle.gaps, "gap", "gaps"),
                                 name_text(idle.what));
  if (idle.call != idle.what && !idle.call.empty()) text += " (" + name_text(idle.call) + ")";
  if (idle.bytes) {
    text += fmt::format(" for copies of up to {}",
                        base::format_bytes(static_cast<double>(*idle.bytes)));
  }
  return text;
}

std::string unrecorded_text(const IdleTime& idle, const RunShares& run) {
  std::string text = fmt::format("{} before work that had been launched", format_duration(idle.ns));
  if (idle.queued > 1) {
    text += fmt::format(" ({} in the queue)", base::format_count(idle.queued));
  }
  return text + " and waited for something that is not in the trace" + per_step_text(idle.ns, run);
}

bool is_mostly_building(const RunShares& run) {
  return 2 * run.build_ns > run.wall.length_ns();
}

std::string idle_text(const GpuShares& gpu, const RunShares& run) {
  if (is_mostly_building(run)) {
    return format_duration(run.build_ns) + " of the run went into building GPU programs";
  }
  const IdleCause cause = largest_cause(gpu);
  const IdleTime& idle = gpu.idle_by(cause);
  const std::string time = format_duration(idle.ns);
  switch (cause) {
    case IdleCause::host_code:
      return code_text(idle);
    case IdleCause::sync:
      return sync_text(idle);
    case IdleCause::set_up:
      return fmt::format("{} in calls that took ten times as long as usual, mostly {}", time,
                         name_text(idle.what));
    case IdleCause::call:
      return fmt::format("{} in calls of the runtime, mostly {}", time, name_text(idle.what));
    case IdleCause::launch:
      return launch_text(gpu);
    case IdleCause::latency:
      return fmt::format("{} in {} of less than 10 µs between pieces of work", time,
                         format_plural(idle.gaps, "gap", "gaps"));
    case IdleCause::other_stream:
      return fmt::format("{} in {} between work of different streams", time,
                         format_plural(idle.gaps, "gap", "gaps"));
    case IdleCause::not_recorded:
      return unrecorded_text(idle, run);
    case IdleCause::unlinked:
      return fmt::format("{} before work of which the trace does not say when it was launched",
                         time);
  }
  return time;
}

std::string loss_text(const GpuOfRun& of, LossKind kind) {
  if (kind == LossKind::communication) return communication_text(*of.gpu, *of.run);
  return kind == LossKind::copies ? copies_text(*of.gpu) : idle_text(*of.gpu, *of.run);
}

struct Range {
  double low = 100;
  double high = 0;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_one() const { return format_percent(low) == format_percent(high); }
  std::string text() const { return range_text(low, high); }
};

// "382.5 ms"; of several files "runs of 12.5 ms to 14.5 ms".
std::string walls_text(std::span<const GpuOfRun> gpus) {
  const auto [low, high] = std::minmax_element(
      gpus.begin(), gpus.end(),
      [](const GpuOfRun& a, const GpuOfRun& b) { return a.gpu->wall_ns < b.gpu->wall_ns; });
  const std::string first = format_duration(low->gpu->wall_ns);
  const std::string last = format_duration(high->gpu->wall_ns);
  return first == last ? last : fmt::format("runs of {} to {}", first, last);
}

// Communication that costs a run next to nothing, because it runs alongside compute.
std::string hidden_text(const GpuShares& gpu) {
  if (gpu.pct(gpu.hidden_communication_ns) < kMuchHiddenPct) return {};
  const std::int64_t all = gpu.hidden_communication_ns + gpu.communication.ns;
  const std::string text =
      fmt::format(" It communicated for {}, {} of that alongside compute", format_duration(all),
                  format_percent(static_cast<double>(gpu.hidden_communication_ns) /
                                 static_cast<double>(all) * 100));
  const bool is_known = gpu.communication_blocks && gpu.multiprocessors &&
                        *gpu.communication_blocks < *gpu.multiprocessors;
  if (!is_known) return text + ".";
  return text + fmt::format(", in kernels of {} on {} multiprocessors.",
                            format_plural(static_cast<std::uint64_t>(*gpu.communication_blocks),
                                          "block", "blocks"),
                            *gpu.multiprocessors);
}

// What a run that is GPU-bound spends its time on, and how well that runs.
std::string bound_text(const GpuOfRun& of) {
  const GpuShares& gpu = *of.gpu;
  if (gpu.largest.empty()) return {};
  std::string text = fmt::format(" The largest part of its compute is {} ({} of GPU time)",
                                 name_text(gpu.largest), format_percent(gpu.largest_pct));
  if (of.used == nullptr || !gpu.largest_class) return text + "." + hidden_text(gpu);
  text += class_use_text(*of.used, *gpu.largest_class) + ".";
  const bool is_gemm = *gpu.largest_class == analyze::KernelClass::gemm;
  const std::string gemm = is_gemm ? "" : good_gemm_text(*of.used);
  return text + (gemm.empty() ? "" : " " + gemm) + hidden_text(gpu);
}

}  // namespace

std::vector<GpuOfRun> gpus_of(const RunShares& run, std::span<const analyze::Efficiency> used) {
  std::vector<GpuOfRun> gpus;
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    gpus.push_back({&run, &run.gpus[i], i < used.size() ? &used[i] : nullptr});
  }
  return gpus;
}

GpuLoss largest_loss(const GpuShares& gpu) {
  GpuLoss largest;
  for (const LossKind kind : {LossKind::idle, LossKind::communication, LossKind::copies}) {
    const std::int64_t ns = loss_ns(gpu, kind);
    if (ns > largest.ns) largest = {kind, ns};
  }
  return largest;
}

IdleCause largest_cause(const GpuShares& gpu) {
  const auto most =
      std::max_element(gpu.idle.begin(), gpu.idle.end(),
                       [](const IdleTime& a, const IdleTime& b) { return a.ns < b.ns; });
  return static_cast<IdleCause>(most - gpu.idle.begin());
}

std::string story_without_work(const RunShares& run) {
  const std::string text = "The GPU runtime was called, but no GPU work was recorded.";
  if (!is_mostly_building(run)) return text;
  return fmt::format("{} Building GPU programs took {} of {}.", text, format_duration(run.build_ns),
                     format_duration(run.wall.length_ns()));
}

std::string gpu_story(std::span<const GpuOfRun> gpus) {
  return gpu_story(gpus, [](const GpuOfRun& one) {
    const std::int64_t place = one.gpu - one.run->gpus.data();
    return fmt::format("GPU {}", one.gpu->device.value_or(place));
  });
}

std::string gpu_story(std::span<const GpuOfRun> gpus, const GpuLabel& label) {
  const GpuOfRun& worst =
      *std::max_element(gpus.begin(), gpus.end(), [](const GpuOfRun& a, const GpuOfRun& b) {
        return a.gpu->pct(largest_loss(*a.gpu).ns) < b.gpu->pct(largest_loss(*b.gpu).ns);
      });
  const GpuLoss loss = largest_loss(*worst.gpu);
  Range computed;
  Range lost;
  for (const GpuOfRun& one : gpus) {
    computed.add(one.gpu->pct(one.gpu->compute_ns));
    lost.add(one.gpu->pct(loss_ns(*one.gpu, loss.kind)));
  }
  const bool is_one = gpus.size() == 1;
  std::string text =
      fmt::format("The {} computed {} of {}", is_one ? "GPU" : fmt::format("{} GPUs", gpus.size()),
                  computed.text(), walls_text(gpus));
  if (worst.gpu->pct(loss.ns) < kGpuBoundPct && computed.low >= kLeastComputedPct) {
    text += ": GPU-bound." + bound_text(worst);
  } else {
    text += fmt::format("; the largest loss is {} {}{}: {}.", lost.text(),
                        kKinds[static_cast<std::size_t>(loss.kind)],
                        lost.is_one() ? "" : fmt::format(" (most on {})", label(worst)),
                        loss_text(worst, loss.kind));
  }
  return base::printable(text + apart_text(worst.run->wall));
}

std::string apart_text(const analyze::Wall& wall) {
  std::string text;
  if (const std::int64_t ns = wall.set_up_ns(); ns > 0) {
    text += fmt::format(" Not counted: {} of set-up ({} the longest).", format_duration(ns),
                        name_text(wall.set_up_call));
  }
  if (const std::int64_t ns = wall.unknown_ns(); ns > 0) {
    text += fmt::format(" Not counted: {} in which the GPU ran what this excerpt does not have.",
                        format_duration(ns));
  }
  return text;
}

}  // namespace fathom::report
