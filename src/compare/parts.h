#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/call_subset.h"
#include "compare/run.h"

namespace fathom::compare {

// The calls of an operation, or of a part of it, in one run.
struct RunCalls {
  std::vector<std::int64_t> ns;    // site by site
  std::vector<std::size_t> sites;  // where each begins in `ns`
  std::int64_t self_ns = 0;
  std::optional<Sample> figures;  // in place of the calls
};
using SideCalls = std::vector<RunCalls>;  // a run each; of some runs there may be none

void add_site(RunCalls& to, const CallSite& site);
double self_ns(const SideCalls& side);  // of all runs

// Calls of an operation that can be told apart from its others and belong together in all runs.
struct OperationPart {
  CallSubset which;
  SideCalls base;
  SideCalls current;
};

// An operation in every run of a side; of some runs there may be none.
using SideOperations = std::vector<const RunOperation*>;

// One operation on tensors of two sizes is two operations to whoever compares times, and so it is
// with two places in the program, or two calls in a step, that do different things under one name.
// Takes an operation apart by shape, then by call path, then by the order of calls in a step, each
// where it explains calls that take different times. A part is half a percent of `base_whole_ns` or
// `current_whole_ns`, all runs of a side together; what is smaller is left in one part more. An
// operation whose calls are all alike stays whole.
std::vector<OperationPart> take_apart(const SideOperations& base, const SideOperations& current,
                                      double base_whole_ns, double current_whole_ns);

}  // namespace fathom::compare
