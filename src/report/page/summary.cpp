#include "report/page/summary.h"
#include "report/json/document.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "base/format.h"
#include "base/json_writer.h"
#include "report/class_times_report.h"
#include "report/efficiency_report.h"
#include "report/page/profile.h"
#include "report/page/sections.h"
#include "report/page/story.h"
#include "report/page/timeline.h"

namespace fathom::report {
namespace {

using base::JsonWriter;

std::string name_of_run(const RunReport& report, const trace::Trace& trace) {
  return trace.run.command.empty() ? std::filesystem::path(report.source).filename().string()
                                   : trace.run.command;
}

void write_run(JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const trace::RunInfo& run = trace.run;
  json.key("run").begin_object();
  json.key("source").value(report.source).key("name").value(name_of_run(report, trace));
  json.key("format").value(known_text(run.format));
  json.key("command").value(known_text(run.command));
  json.key("rank").value(run.rank).key("world_size").value(run.world_size);
  json.key("duration_ns").value(report.activity.end_ns - report.activity.begin_ns);
  json.key("spans").value(trace.spans.size()).key("threads").value(report.activity.threads);
  json.key("gpu_streams").value(report.activity.gpu_streams);
  json.key("devices").begin_array();
  if (const std::string device = device_text(report, trace); !device.empty()) json.value(device);
  json.end_array().end_object();
}

void write_run(JsonWriter& json, const HtaReport& hta) {
  const bool alone = hta.ranks.size() == 1;
  const analyze::RankFindings& first = hta.ranks.front();
  const std::string source =
      alone ? first.source : fmt::format("{} GPUs of one job", hta.ranks.size());
  json.key("run").begin_object().key("source").value(source).key("name");
  json.value(std::filesystem::path(source).filename().string());
  json.key("format").null().key("command").null();
  json.key("rank").value(alone ? first.rank : std::nullopt);
  json.key("world_size").value(first.world_size).key("duration_ns").null();
  json.key("spans").value(0).key("threads").value(0).key("gpu_streams").value(0);
  json.key("devices").begin_array();
  if (!first.device_name.empty()) json.value(first.device_name);
  json.end_array().end_object();
}

void write_warnings(JsonWriter& json, const trace::Trace& trace) {
  json.key("warnings").begin_array();
  if (const std::int64_t dropped = trace.run.dropped_spans.value_or(0);
      dropped > 0 && analyze::is_profile(trace)) {
    json.value(
        base::format_plural(static_cast<std::uint64_t>(dropped), "entry was", "entries were") +
        " dropped; the figures of the scopes hold for all.");
  }
  for (const trace::Warning& warning : trace.warnings.all()) json.value(describe(warning));
  json.end_array();
}

constexpr std::size_t kMostShapes = 500;

// The page has no table of classes that would say nothing.
std::vector<analyze::ClassTime> worth_showing(const std::vector<analyze::ClassTime>& classes) {
  return tell_anything(classes) ? classes : std::vector<analyze::ClassTime>();
}

std::string profile_summary(const explain::Analysis& analysis, const RunReport& report) {
  const trace::Trace& trace = analysis.trace();
  const analyze::ProfileFindings& profile = analysis.profile();
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("fathom").value(FATHOM_VERSION);
  write_run(json, report, trace);
  write_story(json, profile_story(profile, trace.spans.size()));
  write_profile_slices(json, profile);
  write_profile_operations(json, profile);
  write_no_operators(json);
  write_classes(json, {});
  write_efficiency(json, {}, 0);
  write_advice(json, HtaReport{});
  write_suggestions(json, report, trace);
  write_profile_memory(json, profile, report.activity.begin_ns);
  write_ranks(json, HtaReport{}, 0);
  write_warnings(json, trace);
  json.end_object();
  return out;
}

}  // namespace

void write_cards(JsonWriter& json, const std::vector<Card>& cards) {
  json.key("cards").begin_array();
  for (const Card& card : cards) {
    json.begin_object().key("label").value(card.label).key("value").value(card.value);
    json.key("note").value(card.note);
    if (!card.to.empty()) json.key("to").value(card.to);
    json.end_object();
  }
  json.end_array();
}

void write_story(JsonWriter& json, const PageStory& story) {
  json.key("story").begin_object().key("headline").value(story.headline);
  json.key("detail").value(story.detail).end_object();
  write_cards(json, story.cards);
  json.key("ring");
  if (story.ring.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("caption").value(story.ring_caption);
  json.key("total_ns").value(story.ring_total_ns).key("parts").begin_array();
  for (const RingPart& part : story.ring) {
    json.begin_object().key("label").value(part.label).key("part").value(part.part);
    json.key("ns").value(part.ns).end_object();
  }
  json.end_array().end_object();
}

std::string page_summary(const explain::Analysis& analysis) {
  const trace::Trace& trace = analysis.trace();
  const RunReport report = make_report(analysis);
  if (analyze::is_profile(trace)) return profile_summary(analysis, report);
  const HtaReport hta =
      make_hta_report(analysis.hta({.all_steps = true}), std::span(&report.suggestions, 1));
  const analyze::Memory& memory = analysis.memory();
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("fathom").value(FATHOM_VERSION);
  write_run(json, report, trace);
  write_story(json, page_story(report, hta, analysis));
  write_slices(json, analysis);
  write_operations(json, report, trace);
  write_operators(json, analysis);
  write_classes(json, worth_showing(report.classes));
  write_efficiency(json, report.efficiency, kMostShapes);
  write_advice(json, hta);
  write_suggestions(json, report, trace);
  write_memory(json, trace, memory);
  write_ranks(json, hta, page_extent(trace).begin_ns);
  write_warnings(json, trace);
  json.end_object();
  return out;
}

std::string page_summary(const HtaReport& hta, std::span<const PlacedTimeline> ranks) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("fathom").value(FATHOM_VERSION);
  write_run(json, hta);
  write_story(json, page_story(hta));
  json.key("slices").null();
  write_operations(json, hta);
  write_operators(json, ranks);
  write_classes(json, worth_showing(hta.summary.classes));
  write_efficiency(json, hta.summary.efficiency, kMostShapes);
  write_advice(json, hta);
  write_suggestions(json, hta, ranks);
  json.key("memory").null();
  write_ranks(json, hta, ranks);
  json.key("warnings").begin_array().end_array().end_object();
  return out;
}

}  // namespace fathom::report
