#include "report/page/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/hta/hta_summary.h"
#include "base/format.h"
#include "report/page/part.h"
#include "report/page/sections.h"
#include "report/page/series.h"

namespace fathom::report {
namespace {

using analyze::ProfileFindings;
using base::format_percent;
using base::format_plural;
using base::JsonWriter;

constexpr std::size_t kBottlenecks = 5;
constexpr std::size_t kBars = 12;

std::int64_t length_of(const TimeParts& parts) {
  return parts.gpu_ns + parts.transfer_ns + parts.overhead_ns + parts.cpu_ns;
}

std::vector<RingPart> ring_of(const TimeParts& parts) {
  return {{"GPU", "gpu", parts.gpu_ns},
          {"transfer", "transfer", parts.transfer_ns},
          {"overhead", "overhead", parts.overhead_ns},
          {"CPU", "cpu", parts.cpu_ns}};
}

std::string profile_headline(const ProfileFindings& profile) {
  const std::string most =
      profile.shares.empty()
          ? std::string()
          : fmt::format("{} took {} of the time by itself.", profile.scopes.front().operation,
                        format_percent(profile.shares.front()));
  if (!profile.parts || profile.parts->gpu_ns <= 0) {
    return fmt::format("No GPU time was measured. {}", most);
  }
  const std::int64_t whole = length_of(*profile.parts);
  return fmt::format("The GPU worked {} of {}. {}",
                     format_percent(analyze::percent_of(profile.parts->gpu_ns, whole)),
                     base::format_duration(whole), most);
}

}  // namespace

PageStory profile_story(const ProfileFindings& profile, std::size_t entries) {
  PageStory story;
  if (profile.scopes.empty()) {
    story.headline = "No operations in this profile.";
    return story;
  }
  const std::string operations = format_plural(profile.scopes.size(), "operation", "operations");
  story.headline = profile_headline(profile);
  story.detail = fmt::format("{} · {}", operations,
                             entries > 0 ? format_plural(entries, "entry", "entries")
                                         : std::string("a summary without entries"));
  if (profile.parts) {
    story.ring_caption = "in scopes";
    story.ring_total_ns = length_of(*profile.parts);
    story.ring = ring_of(*profile.parts);
    for (const RingPart& part : story.ring) {
      story.cards.push_back({part.label,
                             format_percent(analyze::percent_of(part.ns, story.ring_total_ns)),
                             base::format_duration(part.ns)});
    }
  }
  std::uint64_t calls = 0;
  for (const NamedFigures& scope : profile.scopes) calls += scope.calls;
  story.cards.push_back({"Calls", base::format_count(calls), operations});
  if (profile.peak_bytes) {
    story.cards.push_back({"Peak memory",
                           base::format_bytes(static_cast<double>(*profile.peak_bytes)),
                           "of any scope"});
  }
  return story;
}

void write_profile_slices(JsonWriter& json, const ProfileFindings& profile) {
  std::vector<const NamedFigures*> measured;
  for (const NamedFigures& scope : profile.scopes) {
    const bool is_known = scope.gpu_ns || scope.cpu_ns || scope.transfer_ns || scope.overhead_ns;
    if (is_known) measured.push_back(&scope);
  }
  std::stable_sort(measured.begin(), measured.end(), [](const auto* a, const auto* b) {
    return a->total_ns.value_or(0) > b->total_ns.value_or(0);
  });
  if (measured.size() > kBars) measured.resize(kBars);
  json.key("slices");
  if (measured.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("title").value("GPU, transfer, overhead and CPU by operation");
  json.key("labels").begin_array();
  for (const NamedFigures* scope : measured) json.value(scope->operation);
  json.end_array().key("windows").begin_array().end_array();
  json.key("parts").begin_array();
  const auto column = [&](analyze::Part part, const char* label, auto ns) {
    std::vector<double> values;
    for (const auto* scope : measured) values.push_back((scope->*ns).value_or(0));
    write_slice_part(json, page_part(part), label, values,
                     SliceSum::counts_twice);  // one is inside another
  };
  column(analyze::Part::gpu, "GPU", &NamedFigures::gpu_ns);
  column(analyze::Part::transfer, "transfer", &NamedFigures::transfer_ns);
  column(analyze::Part::overhead, "overhead", &NamedFigures::overhead_ns);
  column(analyze::Part::cpu, "CPU", &NamedFigures::cpu_ns);
  json.end_array().end_object();
}

void write_profile_operations(JsonWriter& json, const ProfileFindings& profile) {
  json.key("operations").begin_array().end_array();
  const std::vector<double>& shares = profile.shares;
  write_scopes(json, profile.scopes, shares);
  json.key("bottlenecks").begin_array();
  double cumulative = 0;
  for (std::size_t i = 0; i < std::min(kBottlenecks, shares.size()); ++i) {
    const NamedFigures& scope = profile.scopes[i];
    if (analyze::weight_of(scope) <= 0) break;
    cumulative += shares[i];
    json.begin_object().key("name").value(scope.operation).key("kind").value("scope");
    json.key("part").value(page_part(scope)).key("self_ns").value(analyze::weight_of(scope));
    json.key("share_pct").value(shares[i]).key("cumulative_pct").value(cumulative).end_object();
  }
  json.end_array();
}

void write_profile_memory(JsonWriter& json, const ProfileFindings& profile, std::int64_t begin_ns) {
  json.key("memory");
  if (profile.memory.empty()) {
    json.null();
    return;
  }
  std::vector<SeriesPoint<std::int64_t>> points;
  for (const analyze::ProfileMemory& at : profile.memory) {
    points.push_back({at.time_ns - begin_ns, at.bytes});
  }
  const auto peak = *std::max_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  points = thinned(points);
  json.begin_object().key("devices").begin_array().begin_object().key("label").value("Memory");
  json.key("part").value(page_part(analyze::Part::gpu)).key("series").begin_array().begin_object();
  json.key("what").value("allocated").key("label").value("allocated at the end of each scope");
  json.key("times_ns").begin_array();
  for (const auto& point : points) json.value(point.time_ns);
  json.end_array().key("bytes").begin_array();
  for (const auto& point : points) json.value(point.value);
  json.end_array().end_object().end_array();
  write_cards(json, {{"Peak", base::format_bytes(static_cast<double>(peak.value)),
                      base::format_duration(peak.time_ns) + " into the profile"}});
  json.key("at_peak").begin_array().end_array().key("unknown_at_peak").value(0);
  json.key("leaks").begin_array().end_array().key("unknown_at_end").value(0);
  json.end_object().end_array();
  json.key("host").null().key("host_peak_bytes").null().end_object();
}

}  // namespace fathom::report
