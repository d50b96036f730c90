#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::trace {

// What a span is. The reader decides once, from whatever its format says; no analysis looks at
// category strings.
enum class SpanKind : std::uint8_t {
  other,           // nothing below is known to hold
  scope,           // a scope of the Fathom library
  cpu_op,          // an operator of a framework
  python,          // a Python function
  annotation,      // named by the user, on the CPU: steps, ranges
  gpu_annotation,  // the same, as seen on a GPU stream
  runtime_call,    // a call of the GPU runtime or driver
  kernel,          // GPU work
  copy,            // memory copied to, from or on a GPU
  fill,            // memory set by a GPU
  sync,            // waiting for a stream, an event or a device
  overhead,        // of the profiler itself
  unfinished,  // began and was never seen to end: drawn to the trace's end, part of no statistic
};

inline constexpr std::array<std::string_view, 13> kSpanKindNames = {
    "other",  "scope", "cpu_op", "python", "annotation", "gpu_annotation", "runtime_call",
    "kernel", "copy",  "fill",   "sync",   "overhead",   "unfinished"};

constexpr std::string_view name_of(SpanKind kind) {
  return kSpanKindNames[static_cast<std::size_t>(kind)];
}

constexpr std::optional<SpanKind> span_kind_of(std::string_view name) {
  for (std::size_t i = 0; i < kSpanKindNames.size(); ++i) {
    if (kSpanKindNames[i] == name) return static_cast<SpanKind>(i);
  }
  return std::nullopt;
}

// The thread is inside the GPU runtime: a call, or a wait for a stream, an event or a device.
constexpr bool is_gpu_call(SpanKind kind) {
  return kind == SpanKind::runtime_call || kind == SpanKind::sync;
}

// Work that keeps a GPU busy.
constexpr bool is_gpu_work(SpanKind kind) {
  return kind == SpanKind::kernel || kind == SpanKind::copy || kind == SpanKind::fill;
}

}  // namespace fathom::trace
