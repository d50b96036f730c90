#pragma once

#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/memory/memory.h"
#include "base/json_writer.h"
#include "explain/analysis.h"
#include "report/hta_report.h"
#include "report/page/rank_timelines.h"
#include "report/page/story.h"
#include "report/run_report.h"
#include "trace/trace.h"

// The sections of the page's summary document (web/src/summary.ts). Each writes its keys into the
// object that is open.
namespace fathom::report {

// story, cards, ring
void write_story(base::JsonWriter& json, const PageStory& story);

// slices: what time was spent on, step by step; in equal slices of the run where there are no
// steps, or too many.
void write_slices(base::JsonWriter& json, const explain::Analysis& analysis);

// One of the parts of slices: its colour, its name, a number per slice, and their sum, where slices
// hold each instant once.
enum class SliceSum { is_told, counts_twice };

template <typename Number>
void write_slice_part(base::JsonWriter& json, std::string_view part, std::string_view label,
                      const std::vector<Number>& ns, SliceSum sum = SliceSum::is_told) {
  json.begin_object().key("part").value(part).key("label").value(label).key("ns").begin_array();
  for (const Number each : ns) json.value(each);
  json.end_array().key("total_ns");
  if (sum == SliceSum::is_told) {
    json.value(std::accumulate(ns.begin(), ns.end(), Number{}));
  } else {
    json.null();
  }
  json.end_object();
}

// operations, scopes, bottlenecks: what the run did, by name
void write_operations(base::JsonWriter& json, const RunReport& report, const trace::Trace& trace);

// scopes: each with its share of all, in percent, where there are shares
void write_scopes(base::JsonWriter& json, const std::vector<NamedFigures>& scopes,
                  const std::vector<double>& shares);

// operations, scopes, bottlenecks: the GPU work of all ranks
void write_operations(base::JsonWriter& json, const HtaReport& hta);

// operators: the GPU work by the operator that launched it, of all ranks together; of a profile,
// none
void write_operators(base::JsonWriter& json, const explain::Analysis& analysis);
void write_operators(base::JsonWriter& json, std::span<const PlacedTimeline> ranks);
void write_no_operators(base::JsonWriter& json);

// advice: what keeps the GPUs from computing, and what to try
void write_advice(base::JsonWriter& json, const HtaReport& hta);

// suggestions: what to change, with the places of its evidence on the timeline
void write_suggestions(base::JsonWriter& json, const RunReport& report, const trace::Trace& trace);

// suggestions: what the ranks of a job say together, as `advice` has it; what was seen, the bar and
// the evidence are of the rank that each would save the most
void write_suggestions(base::JsonWriter& json, const HtaReport& hta,
                       std::span<const PlacedTimeline> ranks);

// ranks, skew: one row per GPU of a rank, where there are several, with its place on the timeline,
// which begins at `begin_ns` where all are of one trace; and who waits for whom
void write_ranks(base::JsonWriter& json, const HtaReport& hta, std::int64_t begin_ns);
void write_ranks(base::JsonWriter& json, const HtaReport& hta,
                 std::span<const PlacedTimeline> placed);

// memory: over time, and whose; null where the trace has nothing about it
void write_memory(base::JsonWriter& json, const trace::Trace& trace, const analyze::Memory& memory);

// cards
void write_cards(base::JsonWriter& json, const std::vector<Card>& cards);

}  // namespace fathom::report
