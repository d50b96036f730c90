#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "analyze/hta/hta_summary.h"
#include "base/format.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/table.h"
#include "report/text/bar.h"
#include "report/text/more_rows.h"
#include "report/timeline_report.h"
#include "trace/track_label.h"

namespace fathom::report {
namespace {

using analyze::percent_of;
using analyze::TimelineStats;
using analyze::TrackActivity;

constexpr std::size_t kActivityBarColumns = 40;

std::size_t gpu_count(const TimelineStats& stats, const trace::Trace& trace) {
  std::set<std::int64_t> gpus;
  for (const TrackActivity& activity : stats.tracks) {
    const trace::Track& track = trace.tracks[activity.track];
    if (track.kind == trace::TrackKind::gpu_stream) gpus.insert(track.device.value_or(0));
  }
  return gpus.size();
}

// The one sentence that tells the story.
std::string activity_story(const TimelineStats& stats, const trace::Trace& trace) {
  if (stats.tracks.empty()) return "  No spans in this file.\n";
  if (!stats.gpu_active_ns) {
    return fmt::format("  This trace has no GPU work: the host was active {} of {}.\n",
                       base::format_percent(percent_of(stats.cpu_active_ns, stats.total_ns())),
                       base::format_duration(stats.total_ns()));
  }
  const double hidden = percent_of(*stats.overlap_ns, *stats.gpu_active_ns);
  if (const std::size_t gpus = gpu_count(stats, trace); gpus > 1) {
    return fmt::format(
        "  At least one of the {} GPUs was active for {} of the {}; the host was active in {} of "
        "that time.\n",
        gpus, base::format_percent(percent_of(*stats.gpu_active_ns, stats.total_ns())),
        base::format_duration(stats.total_ns()), base::format_percent(hidden));
  }
  return fmt::format("  The GPU was active {} of {}; the host was active in {} of that time.\n",
                     base::format_percent(percent_of(*stats.gpu_active_ns, stats.total_ns())),
                     base::format_duration(stats.total_ns()), base::format_percent(hidden));
}

std::string figure(std::string_view name, const std::optional<std::int64_t>& ns,
                   std::int64_t whole) {
  if (!ns) return fmt::format("  {:<12}{:{}}{:>8}\n", name, "", kActivityBarColumns, "–");
  const double share = percent_of(*ns, whole);
  return fmt::format("  {:<12}{}{:>8}  {:>9}\n", name, bar(share / 100, kActivityBarColumns),
                     base::format_percent(share), base::format_duration(*ns));
}

std::string track_table(const TimelineStats& stats, const trace::Trace& trace, std::size_t top,
                        std::size_t width) {
  std::vector<TrackActivity> tracks = stats.tracks;
  std::stable_sort(
      tracks.begin(), tracks.end(),
      [](const TrackActivity& a, const TrackActivity& b) { return a.busy_ns > b.busy_ns; });
  base::Table table({"track", "spans", "busy", "share"});
  const std::size_t shown = std::min(top, tracks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.row({label_of(trace.tracks[tracks[i].track]), base::format_count(tracks[i].spans),
               base::format_duration(tracks[i].busy_ns),
               base::format_percent(percent_of(tracks[i].busy_ns, stats.total_ns()))});
  }
  return "\n" + table.text(width) + more_rows(tracks.size(), shown);
}

}  // namespace

std::string to_text(const TimelineStats& stats, const trace::Trace& trace,
                    const std::string& source, std::size_t top, std::size_t width) {
  const std::string file = std::filesystem::path(source).filename().string();
  const std::string& title = trace.run.command.empty() ? file : trace.run.command;
  std::string text = fmt::format("\n  {} · {} · {}\n\n{}", base::printable(title),
                                 base::format_plural(trace.spans.size(), "span", "spans"),
                                 base::format_plural(stats.tracks.size(), "track", "tracks"),
                                 activity_story(stats, trace));
  if (stats.tracks.empty()) return text + "\n";
  text += "\n" + figure("CPU active", stats.cpu_active_ns, stats.total_ns());
  text += figure("GPU active", stats.gpu_active_ns, stats.total_ns());
  text += figure("both", stats.overlap_ns, stats.total_ns());
  text += track_table(stats, trace, top, width);
  return text + fmt::format("\n  fathom timeline {} -o timeline.html   open in a browser\n\n",
                            base::shell_word(source));
}

}  // namespace fathom::report
