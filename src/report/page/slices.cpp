#include <algorithm>
#include <string>
#include <vector>

#include "analyze/operations/steps.h"
#include "base/format.h"
#include "report/page/part.h"
#include "report/page/sections.h"
#include "report/page/timeline.h"

namespace fathom::report {
namespace {

using analyze::Part;
using analyze::TimeSlices;
using analyze::WorkType;

void write_slice_labels(base::JsonWriter& json, const TimeSlices& slices,
                        const explain::Analysis& analysis) {
  json.key("labels").begin_array();
  if (slices.are_steps) {
    for (const trace::SpanId id : analysis.steps()) {
      const std::string_view name = analysis.trace().name(id);
      json.value("step " + std::string(name.substr(analyze::kStepName.size())));
    }
  } else {
    const std::int64_t begin = slices.windows.front().begin;
    for (const base::Interval& window : slices.windows) {
      json.value(window.begin == begin
                     ? "0"
                     : base::format_duration(static_cast<double>(window.begin - begin)));
    }
  }
  json.end_array();
}

// Where each is on the timeline, which may begin before the first span.
void write_slice_windows(base::JsonWriter& json, const TimeSlices& slices,
                         const trace::Trace& trace) {
  const std::int64_t begin = page_extent(trace).begin_ns;
  json.key("windows").begin_array();
  for (const base::Interval& window : slices.windows) {
    json.begin_array().value(window.begin - begin).value(window.end - begin).end_array();
  }
  json.end_array();
}

// Each part over all slices.
struct SliceColumns {
  std::vector<std::int64_t> compute, communication, memory, overhead, cpu, unrecorded;
};

SliceColumns columns_of(const TimeSlices& slices) {
  SliceColumns columns;
  for (std::size_t i = 0; i < slices.windows.size(); ++i) {
    columns.compute.push_back(slices.gpu[i].compute_ns);
    columns.communication.push_back(slices.gpu[i].communication_ns);
    columns.memory.push_back(slices.gpu[i].memory_ns);
    columns.overhead.push_back(slices.parts[i].overhead_ns);
    columns.cpu.push_back(slices.parts[i].cpu_ns - slices.unrecorded_ns[i]);
    columns.unrecorded.push_back(slices.unrecorded_ns[i]);
  }
  return columns;
}

bool has_any(const std::vector<std::int64_t>& column) {
  return std::any_of(column.begin(), column.end(), [](std::int64_t ns) { return ns != 0; });
}

}  // namespace

void write_slices(base::JsonWriter& json, const explain::Analysis& analysis) {
  const TimeSlices& slices = analysis.slices();
  const SliceColumns columns = columns_of(slices);
  json.key("slices");
  const bool says_nothing = !has_any(columns.compute) && !has_any(columns.communication) &&
                            !has_any(columns.memory) && !has_any(columns.overhead);
  if (says_nothing) {  // nothing at all, or the one colour of the CPU
    json.null();
    return;
  }
  json.begin_object().key("title").value(slices.are_steps
                                             ? "GPU, transfer, overhead and CPU, step by step"
                                             : "GPU, transfer, overhead and CPU over the run");
  write_slice_labels(json, slices, analysis);
  write_slice_windows(json, slices, analysis.trace());
  json.key("parts").begin_array();
  write_slice_part(json, page_part(WorkType::compute), "GPU", columns.compute);
  if (has_any(columns.communication)) {
    write_slice_part(json, page_part(WorkType::communication), "communication",
                     columns.communication);
  }
  write_slice_part(json, page_part(WorkType::memory), "transfer", columns.memory);
  write_slice_part(json, page_part(Part::overhead), "overhead", columns.overhead);
  write_slice_part(json, page_part(Part::cpu), "CPU", columns.cpu);
  if (has_any(columns.unrecorded))
    write_slice_part(json, "idle", "nothing recorded", columns.unrecorded);
  json.end_array().end_object();
}

}  // namespace fathom::report
