#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "advise/said.h"
#include "analyze/trace_maker.h"

namespace fathom::advise {

inline constexpr std::int64_t kMicro = 1'000;
inline constexpr std::int64_t kMilli = 1'000'000;

// A program whose host is far ahead: the GPU has all its work queued, and what it takes is what the
// run takes.
class GpuBound {
 public:
  // An operation of 8 µs on the host that launches one kernel. `shape` are its tensors, of a type:
  // "[4096, 2798], [2798, 512]".
  GpuBound& run(const std::string& operation, const std::string& kernel, std::int64_t duration,
                const std::string& shape = "", const std::string& type = "c10::BFloat16") {
    maker_.op(operation, host_, 8 * kMicro);
    if (!shape.empty()) {
      maker_.shaped(shape).with_args("{\"Input Dims\": [" + shape + "], \"Input type\": [\"" +
                                     type + "\", \"" + type + "\"]}");
    }
    return work(kernel, duration, trace::SpanKind::kernel);
  }
  // The same with arguments of any kind.
  GpuBound& run_with(const std::string& operation, const std::string& args,
                     const std::string& kernel, std::int64_t duration) {
    maker_.op(operation, host_, 8 * kMicro).with_args(args);
    return work(kernel, duration, trace::SpanKind::kernel);
  }
  // The same for a copy, whose call returns at once.
  GpuBound& copy(const std::string& name, std::int64_t duration, std::int64_t bytes) {
    maker_.op("aten::copy_", host_, 8 * kMicro);
    work(name, duration, trace::SpanKind::copy);
    maker_.bytes(bytes);
    return *this;
  }
  // A kernel with arguments of its own, launched by no operation.
  GpuBound& kernel(const std::string& name, std::int64_t duration, const std::string& args = "") {
    work(name, duration, trace::SpanKind::kernel);
    if (!args.empty()) maker_.with_args(args);
    return *this;
  }

  // What is run until `end` is inside a span of this name.
  GpuBound& begin(const std::string& name, trace::SpanKind kind = trace::SpanKind::cpu_op) {
    open_.push_back({name, kind, host_});
    host_ += kMicro;
    return *this;
  }
  GpuBound& end() {
    host_ += kMicro;
    maker_.op(open_.back().name, open_.back().start, host_ - open_.back().start, 1,
              open_.back().kind);
    open_.pop_back();
    return *this;
  }

  trace::Trace make(const std::string& device = "", trace::RunInfo run = {}) {
    if (!device.empty()) run.devices.push_back({0, device, {}, {}});
    return maker_.make(std::move(run));
  }

 private:
  struct Open {
    std::string name;
    trace::SpanKind kind;
    std::int64_t start;
  };

  GpuBound& work(const std::string& name, std::int64_t duration, trace::SpanKind kind) {
    maker_.call("cudaLaunchKernel", host_ + kMicro, 5 * kMicro, ++correlation_);
    host_ += 10 * kMicro;
    gpu_ = std::max(gpu_, host_) + kMicro;
    maker_.gpu(name, gpu_, duration, correlation_, 7, kind);
    gpu_ += duration;
    return *this;
  }

  analyze::TraceMaker maker_;
  std::int64_t host_ = 0;
  std::int64_t gpu_ = 0;
  std::int64_t correlation_ = 0;
  std::vector<Open> open_;
};

}  // namespace fathom::advise
