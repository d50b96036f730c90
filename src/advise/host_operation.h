#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace fathom::advise {

// What an operation takes on the host, in nanoseconds, where that was measured: by its name in the
// runtime library ("matmul") and its size as that counts it. Empty: nothing was measured.
using HostTime = std::function<std::optional<double>(std::string_view operation, double size)>;

struct HostOperation {
  std::string name;
  double size = 0;
};

// What a call is for the runtime library: an operation of its own, which says its size, or one of
// PyTorch whose shapes were recorded. Nothing for all others.
std::optional<HostOperation> host_operation(const trace::Trace& trace, trace::SpanId call);

}  // namespace fathom::advise
