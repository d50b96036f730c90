#include "analyze/critical_path/runtime_calls.h"

#include <array>

namespace fathom::analyze {
namespace {

struct KnownCall {
  std::string_view text;  // after the prefix of the runtime
  CallRole role;
};

// The first that the name begins with.
constexpr std::array kKnown = {
    KnownCall{"DeviceSynchronize", CallRole::device_sync},
    KnownCall{"ThreadSynchronize", CallRole::device_sync},
    KnownCall{"CtxSynchronize", CallRole::device_sync},
    KnownCall{"StreamSynchronize", CallRole::stream_sync},
    KnownCall{"Finish", CallRole::stream_sync},
    KnownCall{"EventSynchronize", CallRole::event_sync},
    KnownCall{"WaitForEvents", CallRole::event_sync},
    KnownCall{"StreamWaitEvent", CallRole::stream_waits},
    KnownCall{"GraphLaunch", CallRole::launch},
    KnownCall{"EnqueueNDRangeKernel", CallRole::launch},
    KnownCall{"EnqueueTask", CallRole::launch},
    KnownCall{"Enqueue", CallRole::copy},  // OpenCL: read, write, copy, fill, map
    KnownCall{"MemFree", CallRole::free},
    KnownCall{"HostFree", CallRole::free},
    KnownCall{"Free", CallRole::free},
};

std::string_view without_runtime(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip", "cl"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

CallRole call_role(std::string_view name) {
  const std::string_view rest = without_runtime(name);
  if (rest.empty()) return CallRole::other;
  if (contains(rest, "LaunchKernel") || contains(rest, "LaunchCooperative")) {
    return CallRole::launch;
  }
  if (rest.starts_with("Memcpy") || rest.starts_with("Memset")) return CallRole::copy;
  for (const KnownCall& known : kKnown) {
    const bool is_async_free = known.role == CallRole::free && contains(rest, "Async");
    if (rest.starts_with(known.text)) return is_async_free ? CallRole::other : known.role;
  }
  return CallRole::other;
}

std::vector<CallRole> call_roles(const trace::Trace& trace) {
  std::vector<CallRole> roles(trace.names.size());
  for (trace::NameId id = 0; id < roles.size(); ++id) roles[id] = call_role(trace.names.view(id));
  return roles;
}

}  // namespace fathom::analyze
