#include <algorithm>
#include <string>
#include <vector>

#include "analyze/operations/steps.h"
#include "analyze/run/split.h"
#include "base/format.h"
#include "report/page/sections.h"

namespace fathom::report {
namespace {

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

}  // namespace

void write_slices(base::JsonWriter& json, const RunReport& report, const trace::Trace& trace) {
  const Slices slices = slices_of(report, trace);
  json.key("slices");
  if (slices.windows.empty()) {
    json.null();
    return;
  }
  const std::vector<TimeParts> parts = analyze::split(trace, slices.windows);
  const auto is_cpu_alone = [](const TimeParts& part) {
    return part.gpu_ns == 0 && part.transfer_ns == 0 && part.overhead_ns == 0;
  };
  if (std::all_of(parts.begin(), parts.end(), is_cpu_alone)) {  // one colour says nothing
    json.null();
    return;
  }
  json.begin_object().key("title").value(slices.title).key("labels").begin_array();
  for (const std::string& label : slices.labels) json.value(label);
  json.end_array();
  const auto column = [&](const char* name, std::int64_t TimeParts::*ns) {
    json.key(name).begin_array();
    for (const TimeParts& part : parts) json.value(part.*ns);
    json.end_array();
  };
  column("gpu_ns", &TimeParts::gpu_ns);
  column("transfer_ns", &TimeParts::transfer_ns);
  column("overhead_ns", &TimeParts::overhead_ns);
  column("cpu_ns", &TimeParts::cpu_ns);
  json.end_object();
}

}  // namespace fathom::report
