#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

// What a call of the GPU runtime or driver is for. Its name tells: CUDA runtime and driver, HIP and
// OpenCL; a version at the end ("_v2", "_ptsz") does not matter.
enum class CallRole : std::uint8_t {
  other,
  launch,        // puts kernels, or a graph of them, into a stream
  copy,          // copies or fills memory
  device_sync,   // returns when all that was launched on the device is done
  stream_sync,   // … on one stream
  event_sync,    // … all that came before an event
  stream_waits,  // makes a stream wait for an event; returns at once
  free,          // gives memory back, which may wait for the device
};

CallRole call_role(std::string_view name);

// What a call does that programs do when they start.
enum class SetUpRole : std::uint8_t {
  none,
  memory,   // takes or gives back memory of the device, or of the host for it
  program,  // builds or loads programs of the device
  device,   // prepares the device, a context, streams or events
};

SetUpRole set_up_role(std::string_view name);

// The role of every name of the trace, by NameId.
std::vector<CallRole> call_roles(const trace::Trace& trace);

constexpr bool is_sync(CallRole role) {
  return role == CallRole::device_sync || role == CallRole::stream_sync ||
         role == CallRole::event_sync;
}

}  // namespace fathom::analyze
