#pragma once

#include <cstddef>
#include <vector>

#include "trace/span_order.h"

namespace fathom::trace {

// Places the rows of spans that come in the order in which their tracks want them, as those of most
// recordings do: without keys, and without sorting. False, with nothing placed, where they do not.
// Parents are not set.
bool place_in_order(Trace& trace, const std::vector<Source>& sources, std::size_t rows,
                    unsigned threads);

}  // namespace fathom::trace
