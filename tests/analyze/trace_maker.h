#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_trace.h"
#include "trace/builder.h"

namespace fathom::analyze {

// Small traces, written down span by span.
class TraceMaker {
 public:
  TraceMaker& op(const std::string& name, std::int64_t start, std::int64_t duration,
                 std::int64_t thread = 1, trace::SpanKind kind = trace::SpanKind::cpu_op) {
    return add(part_.track(trace::TrackKind::thread, 1, thread), name, start, duration, kind,
               trace::kNoCorrelation);
  }
  TraceMaker& step(const std::string& name, std::int64_t start, std::int64_t duration) {
    return op(name, start, duration, 1, trace::SpanKind::annotation);
  }
  TraceMaker& call(const std::string& name, std::int64_t start, std::int64_t duration,
                   std::int64_t correlation = trace::kNoCorrelation, std::int64_t thread = 1) {
    return add(part_.track(trace::TrackKind::thread, 1, thread), name, start, duration,
               trace::SpanKind::runtime_call, correlation);
  }
  TraceMaker& gpu(const std::string& name, std::int64_t start, std::int64_t duration,
                  std::int64_t correlation = trace::kNoCorrelation, std::int64_t stream = 7,
                  trace::SpanKind kind = trace::SpanKind::kernel) {
    const trace::TrackId track = part_.track(trace::TrackKind::gpu_stream, 0, stream);
    part_.tracks[track].device = 0;
    part_.tracks[track].stream = stream;
    return add(track, name, start, duration, kind, correlation);
  }
  TraceMaker& bytes(std::int64_t moved) {  // by the last work
    part_.bytes.push_back({static_cast<trace::SpanId>(part_.spans.size() - 1), moved});
    return *this;
  }
  TraceMaker& shaped(const std::string& shape) {  // the last span
    part_.spans.back().shape = part_.names.intern(shape);
    return *this;
  }
  TraceMaker& correlated(std::int64_t correlation) {  // the last span, of any kind
    part_.spans.back().correlation = correlation;
    return *this;
  }
  // Its arguments are this JSON text.
  TraceMaker& with_args(std::string args) {
    part_.spans.back().source = args_.size();
    args_.push_back(std::move(args));
    return *this;
  }

  trace::Trace make(trace::RunInfo run = {}) {
    std::vector<trace::TracePart> parts;
    parts.push_back(std::move(part_));
    trace::Trace trace = assemble(std::move(parts), std::move(run));
    trace.args_at = [args = std::move(args_)](std::uint64_t source) { return args.at(source); };
    return trace;
  }

 private:
  TraceMaker& add(trace::TrackId track, const std::string& name, std::int64_t start,
                  std::int64_t duration, trace::SpanKind kind, std::int64_t correlation) {
    trace::SpanRow row;
    row.track = track;
    row.name = part_.names.intern(name);
    row.start_ns = start;
    row.duration_ns = duration;
    row.kind = kind;
    row.correlation = correlation;
    part_.spans.push_back(row);
    return *this;
  }

  trace::TracePart part_;
  std::vector<std::string> args_;
};

// Threads, calls and streams at small, colliding times: launches whose work began before them, work
// without a launch, one launch with much work, calls that could have waited, and pauses.
inline trace::Trace random_gpu_trace(std::mt19937& random) {
  using trace::pick;
  static const std::vector<std::string> call_names = {"cudaLaunchKernel",
                                                      "cudaLaunchKernel",
                                                      "cudaMemcpyAsync",
                                                      "cudaFree",
                                                      "cudaStreamSynchronize",
                                                      "cudaEventSynchronize",
                                                      "cudaStreamWaitEvent",
                                                      "hipDeviceSynchronize",
                                                      "cudaMalloc"};
  TraceMaker maker;
  const std::int64_t scale = pick(random, 0, 1) == 0 ? 1 : 20'000;  // so that limits are crossed
  const auto time = [&](std::int64_t to) { return pick(random, 0, to) * scale; };
  const std::int64_t spans = pick(random, 0, 40);
  for (std::int64_t i = 0; i < spans; ++i) {
    const std::int64_t thread = pick(random, 1, 2);
    const std::int64_t correlation = pick(random, 0, 12);
    switch (pick(random, 0, 3)) {
      case 0:
        maker.op(pick(random, 0, 4) == 0 ? "enumerate(DataLoader)#next" : "op", time(60), time(20),
                 thread,
                 pick(random, 0, 3) == 0 ? trace::SpanKind::annotation : trace::SpanKind::cpu_op);
        break;
      case 1:
        maker.call(call_names[static_cast<std::size_t>(pick(random, 0, 8))], time(60), time(8),
                   correlation, thread);
        break;
      default:
        maker.gpu(pick(random, 0, 3) == 0 ? "ncclKernel_AllReduce" : "gemm", time(60), time(6),
                  correlation, pick(random, 7, 9),
                  pick(random, 0, 4) == 0 ? trace::SpanKind::copy : trace::SpanKind::kernel);
    }
  }
  for (int step = 0; step < pick(random, 0, 3); ++step) {
    maker.step("ProfilerStep#" + std::to_string(step), step * 20 * scale, 18 * scale);
  }
  return maker.make();
}

}  // namespace fathom::analyze
