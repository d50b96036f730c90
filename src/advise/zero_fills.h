#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace fathom::advise {

struct Facts;

// Gradients that zero_grad fills with zeros, kernel by kernel.
struct ZeroFills {
  std::vector<std::uint32_t> rows;    // of GPU work
  std::vector<trace::SpanId> around;  // the ranges or functions that clear gradients, in order
  std::int64_t work_ns = 0;           // on the GPU
  std::int64_t host_ns = 0;           // of `around`
};

ZeroFills find_zero_fills(const Facts& facts);

}  // namespace fathom::advise
