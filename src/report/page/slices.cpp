#include <algorithm>
#include <string>
#include <vector>

#include "analyze/hta/gpu_time.h"
#include "analyze/operations/steps.h"
#include "analyze/run/split.h"
#include "base/format.h"
#include "report/page/part.h"
#include "report/page/sections.h"

namespace fathom::report {
namespace {

using analyze::Part;
using analyze::WorkType;
using base::Interval;

// What the chart of the four parts is cut into.
struct Slices {
  const char* title = "";
  std::vector<Interval> windows;
  std::vector<std::string> labels;
};

constexpr std::size_t kMostSteps = 60;
constexpr std::int64_t kSlices = 48;

Slices steps_of(const RunReport& report, const trace::Trace& trace) {
  Slices slices{"GPU, transfer, overhead and CPU, step by step", {}, {}};
  for (const trace::SpanId id : report.steps) {
    const std::string_view number = trace.name(id).substr(analyze::kStepName.size());
    slices.windows.push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
    slices.labels.push_back("step " + std::string(number));
  }
  return slices;
}

Slices slices_of(const RunReport& report, const trace::Trace& trace) {
  Slices steps = steps_of(report, trace);
  if (steps.windows.size() > 1 && steps.windows.size() <= kMostSteps) return steps;
  Slices slices{"GPU, transfer, overhead and CPU over the run", {}, {}};
  const std::int64_t begin = report.activity.begin_ns;
  const std::int64_t length = report.activity.end_ns - begin;
  if (length < kSlices) return slices;
  // In double: a run of hours times the number of slices is more than 64 bits of nanoseconds hold.
  const auto at = [&](std::int64_t slice) {
    return static_cast<std::int64_t>(static_cast<double>(length) * static_cast<double>(slice) /
                                     kSlices);
  };
  for (std::int64_t slice = 0; slice < kSlices; ++slice) {
    slices.windows.push_back({begin + at(slice), begin + at(slice + 1)});
    slices.labels.push_back(slice == 0 ? "0"
                                       : base::format_duration(static_cast<double>(at(slice))));
  }
  return slices;
}

// Each part over all slices.
struct SliceColumns {
  std::vector<std::int64_t> compute, communication, memory, overhead, cpu;
};

bool has_any(const std::vector<std::int64_t>& column) {
  return std::any_of(column.begin(), column.end(), [](std::int64_t ns) { return ns != 0; });
}

}  // namespace

void write_slices(base::JsonWriter& json, const RunReport& report,
                  const explain::Analysis& analysis) {
  const Slices slices = slices_of(report, analysis.trace());
  json.key("slices");
  if (slices.windows.empty()) {
    json.null();
    return;
  }
  const auto parts = analyze::split(analysis.trace(), slices.windows);
  const std::vector<analyze::GpuTime> gpu = analyze::gpu_time(analysis.gpu_work(), slices.windows);
  SliceColumns columns;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    columns.compute.push_back(gpu[i].compute_ns);
    columns.communication.push_back(gpu[i].communication_ns);
    columns.memory.push_back(gpu[i].memory_ns);
    columns.overhead.push_back(parts[i].overhead_ns);
    columns.cpu.push_back(parts[i].cpu_ns);
  }
  const bool is_cpu_alone = !has_any(columns.compute) && !has_any(columns.communication) &&
                            !has_any(columns.memory) && !has_any(columns.overhead);
  if (is_cpu_alone) {  // one colour says nothing
    json.null();
    return;
  }
  json.begin_object().key("title").value(slices.title).key("labels").begin_array();
  for (const std::string& label : slices.labels) json.value(label);
  json.end_array().key("parts").begin_array();
  write_slice_part(json, page_part(WorkType::compute), "GPU", columns.compute);
  if (has_any(columns.communication)) {
    write_slice_part(json, page_part(WorkType::communication), "communication",
                     columns.communication);
  }
  write_slice_part(json, page_part(WorkType::memory), "transfer", columns.memory);
  write_slice_part(json, page_part(Part::overhead), "overhead", columns.overhead);
  write_slice_part(json, page_part(Part::cpu), "CPU", columns.cpu);
  json.end_array().end_object();
}

}  // namespace fathom::report
