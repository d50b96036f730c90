#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/sample.h"
#include "trace/trace.h"

namespace fathom::compare {

// One operation of one run, with every time it took.
struct RunOperation {
  std::string name;  // what two runs of one program would both call it
  trace::SpanKind kind = trace::SpanKind::other;
  std::string launched_by;       // of GPU work: the host operation that launched most of its time
  std::vector<std::int64_t> ns;  // a call each, in order on each thread or stream
  std::int64_t self_ns = 0;      // less what other operations on the same track cover
  std::optional<double> peak_memory_mb;  // of a scope: device memory while it ran
  std::optional<Sample> figures;  // where the source has figures of its calls and not the calls
};

// A run, brought down to what a comparison needs: the trace can go.
struct Run {
  std::string label;
  std::vector<RunOperation> operations;
  std::uint64_t steps = 0;              // PyTorch's; 0 where there are none
  std::optional<std::int64_t> wall_ns;  // from the first span's begin to the last one's end
  std::optional<std::int64_t> peak_memory_bytes;
};

// What two runs of one program both call a span. They name the same thing differently where the
// name has a number, says how many workers there are, or belongs to one vendor.
std::string comparable_name(std::string_view name, trace::SpanKind kind);

Run run_of(const trace::Trace& trace, std::string label);

}  // namespace fathom::compare
