#pragma once

#include <span>
#include <string>
#include <vector>

#include "compare/parts.h"
#include "compare/run.h"
#include "compare/verdict.h"

namespace fathom::compare {

// Below this share of either side's time an operation only adds noise to the judgement of others.
inline constexpr double kLeastShare = 1e-4;

// What a user named is what the user asks about, however small it is.
constexpr bool is_named_by_user(trace::SpanKind kind) {
  return kind == trace::SpanKind::scope || kind == trace::SpanKind::annotation;
}

// One operation across all runs of both sides, or a part of it that is compared by itself.
struct AlignedOperation {
  std::string name;
  trace::SpanKind kind = trace::SpanKind::other;
  CallSubset which;
  // GPU work that goes by other names on either side (another vendor, another library) but was
  // launched by the same host operation: `name` is that operation's.
  bool is_by_structure = false;
  OperationRuns runs;
  double base_self_ns = 0;  // of all runs
  double current_self_ns = 0;
  std::optional<double> base_memory_bytes;  // the largest of the runs
  std::optional<double> current_memory_bytes;
};

struct Alignment {
  std::vector<AlignedOperation> operations;
  // How much of the self time is in operations that both sides have; the lower of the two sides.
  double matched_pct = 0;
  std::size_t left_out = 0;  // operations and parts too small on both sides to be judged
};

// Finds for each operation of one side the same one on the other: by name and kind, then GPU work
// by what launched it; and takes apart those that do different things under one name. With `all`,
// nothing is left out.
Alignment align(std::span<const Run> base, std::span<const Run> current, bool all = false);

}  // namespace fathom::compare
