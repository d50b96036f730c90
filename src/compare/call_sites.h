#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::compare {

// What all steps of PyTorch are called here, whatever their number.
inline constexpr std::string_view kStepOperation = "ProfilerStep";

// Between the operations of a path.
inline constexpr std::string_view kInside = " › ";

// From its `first` call on, the calls of a site belong to this step.
struct StepCalls {
  std::uint32_t step = 0;  // kNoStep: outside of all
  std::uint32_t first = 0;
};
inline constexpr std::uint32_t kNoStep = UINT32_MAX;

// The operations around a call, outermost first: "a › b"; empty for one that is in none. Many sites
// share one. Null where it is not known, because there are too many.
using CallPath = std::shared_ptr<const std::string>;

// The calls of one operation that worked on the same, from the same place in the program.
struct CallSite {
  std::string shape;  // as in trace::Spans; empty where unknown
  CallPath path;
  std::vector<std::int64_t> ns;  // a call each, in order on each thread or stream
  std::vector<StepCalls> steps;
  std::int64_t total_ns = 0;
  std::int64_t self_ns = 0;  // less what other operations on the same track cover
};

// The operations of a trace and from where each was called. What is launched has the path of its
// launch.
struct SitesOfOperation {
  std::string name;     // that two runs of one program would both use
  std::string written;  // as this trace has it, the first of them
  trace::SpanKind kind = trace::SpanKind::other;
  std::string launched_by;  // of GPU work: the host operation that launched most of its time
  std::vector<CallSite> sites;
};

// What two runs of one program both call a span. They name the same thing differently where the
// name has a number, says how many workers there are, belongs to one vendor, or tells the line of a
// Python function or where an object lies.
std::string comparable_name(std::string_view name, trace::SpanKind kind);

// One text for each name and kind.
std::string operation_key(std::string_view name, trace::SpanKind kind);

std::vector<SitesOfOperation> call_sites(const trace::Trace& trace);

}  // namespace fathom::compare
