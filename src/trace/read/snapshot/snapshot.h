#pragma once

#include <memory>

#include "trace/read/input.h"
#include "trace/trace.h"

namespace fathom::trace {

// Reads a memory snapshot of PyTorch's CUDA allocator, as torch.cuda.memory._dump_snapshot()
// pickles it: a dict of `segments` and `device_traces`, or the list of segments alone. Nothing in
// the pickle is ever run. Throws base::Error for a pickle that is not a snapshot.
//
// Every allocation and completed free is a MemoryEvent, in the bytes that were asked for (the
// allocator rounds them up). Its totals count what was allocated before the recording began too.
// Where nothing was recorded, the blocks in use are allocations at time 0. Counters give the
// allocated and reserved bytes and the number of segments of each GPU.
Trace read_snapshot(const std::shared_ptr<const Input>& input);

}  // namespace fathom::trace
