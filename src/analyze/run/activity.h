#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

// When anything happened at all, and how much of that time the GPUs worked.
struct Activity {
  std::int64_t begin_ns = 0;  // first start and last end of any span
  std::int64_t end_ns = 0;
  std::uint64_t threads = 0;  // tracks with spans, by kind
  std::uint64_t gpu_streams = 0;
  std::vector<std::int64_t> gpus;  // that did any work, as the source numbers them

  // From the first to the last kernel, copy or fill: absent where there is none. With several GPUs
  // the window is one for all, and `gpu_busy_ns` is the mean over them.
  std::optional<std::int64_t> gpu_window_ns;
  std::optional<std::int64_t> gpu_busy_ns;
};

Activity activity(const trace::Trace& trace);

}  // namespace fathom::analyze
