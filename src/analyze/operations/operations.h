#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/classes/kernel_class.h"
#include "base/duration_stats.h"
#include "trace/trace.h"

namespace fathom::analyze {

// What a span's own time is spent on.
enum class Part : std::uint8_t { cpu, gpu, transfer, overhead };

std::string_view name_of(Part part);

// All spans of one name and kind. PyTorch's numbered steps ("ProfilerStep#7") are one operation.
struct Operation {
  std::string_view name;  // lives as long as the trace
  trace::SpanKind kind = trace::SpanKind::other;
  base::DurationStats durations;
  std::int64_t self_ns = 0;  // duration less what its children on the same track cover
  // Repeats or frames what others say: GPU annotations, and spans of no known kind where the trace
  // has others (the profiler's own, around everything); or is a thread of Python that waits for
  // work. It takes part in no ranking.
  bool is_frame = false;
  std::optional<KernelClass> kernel_class;  // of GPU work: the one that most of its time is of
};

// One of the operations that take the most self time.
struct RankedOperation {
  std::size_t operation = 0;  // index into the operations given
  Part part = Part::cpu;
  double share_pct = 0;       // of the self time of all operations
  double cumulative_pct = 0;  // of this one and those before it
};

Part part_of(trace::SpanKind kind);

// Each span's duration less what its children on the same track cover.
std::vector<std::int64_t> self_times(const trace::Spans& spans);

// What its spans say: counts and times, no parts of the time and no memory.
OperationFigures figures_of(const Operation& operation);

// Every operation of the trace, most self time first; ties by name, so the order is the same each
// time. Unfinished spans have no duration and do not count. `classes` are those of kernels, by name
// (classes_by_name); without them, kernels have none.
std::vector<Operation> operations(const trace::Trace& trace,
                                  std::span<const KernelClass> classes = {});

// The first `top` by self time; frames and waits for the GPU are left out, for what was waited for
// is ranked by itself. Shares are of the self time of all operations but frames. Of a scope whose
// parts were recorded, the largest of them is its part.
std::vector<RankedOperation> bottlenecks(const std::vector<Operation>& operations, std::size_t top,
                                         const std::vector<NamedFigures>& recorded = {});

}  // namespace fathom::analyze
