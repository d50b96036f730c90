#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "advise/facts.h"
#include "analyze/efficiency/peaks.h"

namespace fathom::advise {

// The least time that an operation can take on the GPU of the trace.
struct Floor {
  double memory_ns = 0;
  double arithmetic_ns = 0;

  double ns() const { return std::max(memory_ns, arithmetic_ns); }
  bool is_by_memory() const { return memory_ns > arithmetic_ns; }
};

// Of operations whose work follows from their shapes (op_work.h). Shapes and the GPU's peaks must
// be known.
class Floors {
 public:
  explicit Floors(const Facts& facts) : facts_(facts) {}

  // Of the operation that launched a row, as the kernel computes or, where it is given, in another
  // arithmetic: that is of matrix products, convolutions and attention alone.
  std::optional<Floor> of(const analyze::WorkRow& row,
                          std::optional<analyze::Arithmetic> in = std::nullopt);

 private:
  using Key = std::tuple<trace::NameId, trace::NameId, trace::NameId>;  // operation, shape, kernel

  std::optional<Floor> work_out(trace::SpanId operation, const analyze::WorkRow& row,
                                std::optional<analyze::Arithmetic> in) const;

  const Facts& facts_;
  std::map<std::pair<Key, std::optional<analyze::Arithmetic>>, std::optional<Floor>> known_;
};

}  // namespace fathom::advise
