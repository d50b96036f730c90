#include "advise/shapes.h"

#include <utility>

#include "analyze/efficiency/op_args.h"

namespace fathom::advise {

std::vector<Shape> shapes_of(const trace::Trace& trace, trace::SpanId operation) {
  std::vector<Shape> found;
  if (trace.spans.shape[operation] == 0) return found;  // then its arguments have none either
  for (analyze::OpInput& input : analyze::op_inputs(trace.args(operation))) {
    if (!input.dims.empty()) found.push_back(std::move(input.dims));
  }
  return found;
}

std::int64_t elements_of(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || (size > 0 && elements > INT64_MAX / size)) return 0;
    elements *= size;
  }
  return elements;
}

}  // namespace fathom::advise
