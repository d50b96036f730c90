#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "advise/replay.h"
#include "analyze/trace_maker.h"

namespace fathom::advise {

inline constexpr std::int64_t kUs = 1'000;
inline constexpr std::int64_t kMs = 1'000'000;

// One step of a program: what its thread does next.
struct Action {
  enum class Kind { compute, launch, synchronize, copy } kind;
  std::size_t stream = 0;
  std::int64_t duration_ns = 0;
  std::string name = "";  // of the operation or kernel
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
};

// A machine with one thread and eight streams. Work begins 4 µs after its launch or 1 µs after the
// work before it; a synchronisation returns 3 µs after the last work, and so does a copy, which
// goes to the GPU and blocks. A launch queue that holds `depth` launches of a stream makes the next
// one return 6 µs after the oldest of them begins.
inline trace::Trace run_on_a_machine(const std::vector<Action>& program,
                                     std::size_t depth = SIZE_MAX) {
  analyze::TraceMaker trace;
  std::int64_t host = 0;
  std::array<std::int64_t, 8> stream = {};
  stream.fill(-100 * kUs);
  std::array<std::vector<std::int64_t>, 8> starts;
  std::int64_t correlation = 0;
  for (const Action& action : program) {
    std::int64_t& gpu = stream[action.stream];
    const auto stream_id = static_cast<std::int64_t>(action.stream) + 7;
    switch (action.kind) {
      case Action::Kind::compute:
        if (action.duration_ns > 0) {
          trace.op(action.name.empty() ? "op" : action.name, host, action.duration_ns);
        }
        host += action.duration_ns;
        break;
      case Action::Kind::launch: {
        std::vector<std::int64_t>& queue = starts[action.stream];
        std::int64_t returned = host + 5 * kUs;
        if (queue.size() >= depth) {
          returned = std::max(returned, queue[queue.size() - depth] + 6 * kUs);
        }
        trace.call("cudaLaunchKernel", host, returned - host, ++correlation);
        host = returned;
        gpu = std::max(host + 4 * kUs, gpu + kUs);
        queue.push_back(gpu);
        trace.gpu(action.name.empty() ? "kernel" : action.name, gpu, action.duration_ns,
                  correlation, stream_id);
        if (action.blocks > 0) {
          trace.with_args("{\"grid\": [" + std::to_string(action.blocks) + ", 1, 1]}");
        }
        gpu += action.duration_ns;
        break;
      }
      case Action::Kind::copy: {
        const std::int64_t begin = std::max(host + 4 * kUs, gpu + kUs);
        gpu = begin + action.duration_ns;
        trace.call("cudaMemcpy", host, gpu + 3 * kUs - host, ++correlation);
        trace.gpu("Memcpy HtoD (Pageable -> Device)", begin, action.duration_ns, correlation,
                  stream_id, trace::SpanKind::copy);
        trace.bytes(action.bytes);
        host = gpu + 3 * kUs;
        break;
      }
      case Action::Kind::synchronize: {
        const std::int64_t end =
            std::max(host, *std::max_element(stream.begin(), stream.end())) + 3 * kUs;
        trace.call("cudaDeviceSynchronize", host, end - host);
        host = end;
      }
    }
  }
  trace::RunInfo run;
  run.devices.push_back({0, "a GPU", 16'000'000'000, 80});
  return trace.make(run);
}

inline std::int64_t wall_of(const trace::Trace& trace) {
  const analyze::Dependencies on = analyze::dependencies(trace);
  return plan_replay(trace, on).measured_ns;
}

}  // namespace fathom::advise
