#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "analyze/hta/device_info.h"
#include "base/format.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "report/suggest_report.h"
#include "report/text/wrapped.h"
#include "trace/track_label.h"

namespace fathom::report {
namespace {

using advise::GainBasis;
using advise::Suggestion;
using advise::Suggestions;

std::string device_of(const trace::Trace& trace) {
  for (const trace::Track& track : trace.tracks) {
    if (track.kind != trace::TrackKind::gpu_stream || track.span_count == 0) continue;
    const trace::DeviceInfo* device = analyze::device_info(trace, track.device);
    return device == nullptr ? std::string() : device->name;
  }
  return {};
}

std::string headline(const SuggestReport& report) {
  std::vector<std::string> parts = {std::filesystem::path(report.source).filename().string()};
  if (const std::string device = device_of(report.trace); !device.empty()) parts.push_back(device);
  if (report.steps > 0) {
    parts.push_back(base::format_plural(report.steps, "step", "steps"));
  }
  if (report.found.run_ns > 0) parts.push_back(base::format_duration(report.found.run_ns));
  return fmt::format("\n  {}\n\n", base::printable(fmt::format("{}", fmt::join(parts, " · "))));
}

// What is too small to be listed.
std::string hidden_text(const Suggestions& found) {
  const bool is_one = found.left_out == 1;
  const std::string count = base::format_plural(found.left_out, "suggestion", "suggestions");
  const std::string least = base::format_percent(advise::kWorthPct);
  const std::string what =
      found.has_gains ? fmt::format(" that {} less than {}", is_one ? "saves" : "save", least)
                      : fmt::format(" about less than {} of the run", least);
  return count + what + (is_one ? " is hidden; --all shows it" : " are hidden; --all shows them");
}

std::string story(const SuggestReport& report) {
  const Suggestions& found = report.found;
  const bool is_of_memory = report.trace.run.format == "PyTorch memory snapshot" ||
                            (report.trace.spans.size() == 0 && !report.trace.memory.empty());
  if (is_of_memory) {
    return "Nothing to suggest: this file records memory, not time. See: fathom memory " +
           base::shell_word(report.source);
  }
  if (found.list.empty() && report.not_critical > 0) {
    return fmt::format("Nothing is critical: {} would save less than 20 %, or an unknown amount.",
                       base::format_plural(report.not_critical, "change", "changes"));
  }
  if (found.list.empty()) {
    std::string text = "Nothing to suggest: no rule found anything worth changing.";
    if (found.left_out > 0) text += " " + hidden_text(found) + ".";
    return found.why_no_gains.empty() ? text : text + " " + found.why_no_gains;
  }
  if (!found.has_gains) return found.why_no_gains;
  const auto count = std::count_if(found.list.begin(), found.list.end(),
                                   [](const Suggestion& one) { return one.gain.has_value(); });
  if (count == 0) return "No change is known to make this run shorter.";
  constexpr double kLeastShownPct = 0.1;
  const std::string changes =
      base::format_plural(static_cast<std::uint64_t>(count), "change", "changes together");
  const std::string saved = base::format_percent(found.gain_pct());
  if (found.is_rough) {
    return fmt::format(
        "{} would save roughly {} of the run. (Rough: the replay without any change is off by {}, "
        "so something not in the trace held the run up.)",
        changes, saved, base::format_percent(*found.replay_error_pct));
  }
  const double off = std::abs(*found.replayed_ns / found.measured_ns - 1) * 100;
  return fmt::format(
      "{} would save {} of the run. (The replay without any change is within {} of what was "
      "measured.)",
      changes, saved, base::format_percent(std::max(off, kLeastShownPct)));
}

std::string gain_text(const Suggestion& one) {
  if (!one.gain) return "";
  const char* saves = one.basis == GainBasis::bound ? "saves at most "
                      : one.is_rough                ? "saves roughly "
                                                    : "saves ";
  return saves + base::format_percent(one.gain_pct);
}

// "12.3 ms": when a span began, counted from the first of the trace.
std::string evidence_text(const SuggestReport& report, const Suggestion& one,
                          std::int64_t begin_ns) {
  const trace::SpanId first = one.evidence.front();
  const trace::Spans& spans = report.trace.spans;
  return fmt::format(
      "{} {} at {} on {}: {}",
      one.evidence_count == 1 ? "1 span of"
                              : base::format_count(one.evidence_count) + " spans, for example",
      base::format_duration(static_cast<double>(spans.duration_ns[first])),
      base::format_duration(static_cast<double>(spans.start_ns[first] - begin_ns)),
      label_of(report.trace.tracks[spans.track[first]]), base::fit(report.trace.name(first), 48));
}

// Names in it cannot move the cursor.
std::string printable(std::string_view text) {
  return base::fit(text, text.size());
}

std::string hint_text(const Suggestion& one, std::size_t width) {
  std::string text = wrapped(printable(one.implementation_hint), "      how   ", width);
  for (const std::string& line : one.code) text += "              " + printable(line) + "\n";
  return text;
}

std::string suggestion_text(const SuggestReport& report, const Suggestion& one, std::size_t number,
                            std::int64_t begin_ns, std::size_t width) {
  const std::string right = fmt::format("{}  {}", gain_text(one), name_of(one.priority));
  const std::size_t used = base::display_width(right) + 6;
  const std::string title = base::fit(one.title, width > used + 2 ? width - used - 2 : 20);
  const std::size_t filled = base::display_width(title) + used;
  std::string text = fmt::format("\n  {:>2}  {}{}{}\n", number, title,
                                 std::string(width > filled ? width - filled : 2, ' '), right);
  text += wrapped(printable(one.description), "      seen  ", width);
  text += wrapped(one.expected_improvement, "      gain  ", width);
  text += hint_text(one, width);
  if (!one.evidence.empty()) {
    text += wrapped(evidence_text(report, one, begin_ns), "      see   ", width);
  }
  return text;
}

}  // namespace

std::string to_text(const SuggestReport& report, std::size_t top, std::size_t width) {
  const Suggestions& found = report.found;
  std::string text = headline(report) + wrapped(story(report), "  ", width);
  const std::vector<std::int64_t>& starts = report.trace.spans.start_ns;
  const std::int64_t begin = starts.empty() ? 0 : *std::min_element(starts.begin(), starts.end());
  const std::size_t shown = std::min(top, found.list.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += suggestion_text(report, found.list[i], i + 1, begin, width);
  }
  if (shown < found.list.size()) {
    text += fmt::format("\n  … {} more (--top {})\n", found.list.size() - shown, found.list.size());
  }
  if (shown > 0 && found.left_out > 0) {
    text += "\n  " + hidden_text(found) + "\n";
  }
  return text + "\n";
}

}  // namespace fathom::report
