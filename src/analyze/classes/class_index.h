#pragma once

#include <utility>
#include <vector>

#include "analyze/classes/kernel_class.h"
#include "base/pair_index.h"
#include "trace/trace.h"

namespace fathom::analyze {

// The class of each piece of GPU work of a trace: the operation is the innermost one of a framework
// around its launch. What a graph launched has its name alone, for it was captured elsewhere. Each
// pair of operation and kernel is looked at once.
class ClassIndex {
 public:
  explicit ClassIndex(const trace::Trace& trace);

  // `launch` is the runtime call that brought the work, or kNoSpan.
  KernelClass of(trace::SpanId work, trace::SpanId launch);

  // The innermost operation of a framework around a call; kNoSpan where there is none, or the call
  // launches a graph.
  trace::SpanId operation_of(trace::SpanId launch);

 private:
  bool is_in_optimizer(trace::SpanId launch) const;

  const trace::Trace& trace_;
  base::PairIndex classes_;            // by the names of operation and kernel
  base::PairIndex operations_;         // by span that is not one, so that none is passed twice
  std::vector<trace::SpanId> passed_;  // on the way to an operation
  std::vector<bool> launches_graphs_;  // by name
  // Spans within steps of optimizers, [first, last): what a span contains stands right behind it.
  std::vector<std::pair<trace::SpanId, trace::SpanId>> optimizers_;
};

}  // namespace fathom::analyze
