#include "analyze/critical_path/runtime_calls.h"

#include <algorithm>
#include <array>

#include "base/contains.h"

namespace fathom::analyze {
namespace {

struct KnownCall {
  std::string_view text;  // after the prefix of the runtime
  CallRole role = CallRole::other;
  SetUpRole set_up = SetUpRole::none;
};

// The first that the name begins with.
constexpr std::array kKnown = {
    KnownCall{"DeviceSynchronize", CallRole::device_sync, SetUpRole::none},
    KnownCall{"ThreadSynchronize", CallRole::device_sync, SetUpRole::none},
    KnownCall{"CtxSynchronize", CallRole::device_sync, SetUpRole::none},
    KnownCall{"StreamSynchronize", CallRole::stream_sync, SetUpRole::none},
    KnownCall{"Finish", CallRole::stream_sync, SetUpRole::none},
    KnownCall{"EventSynchronize", CallRole::event_sync, SetUpRole::none},
    KnownCall{"WaitForEvents", CallRole::event_sync, SetUpRole::none},
    KnownCall{"StreamWaitEvent", CallRole::stream_waits, SetUpRole::none},
    KnownCall{"GraphLaunch", CallRole::launch, SetUpRole::none},
    KnownCall{"EnqueueNDRangeKernel", CallRole::launch, SetUpRole::none},
    KnownCall{"EnqueueTask", CallRole::launch, SetUpRole::none},
    KnownCall{"Enqueue", CallRole::copy, SetUpRole::none},  // OpenCL: read, write, copy, fill, map
    KnownCall{"MemFree", CallRole::free, SetUpRole::memory},
    KnownCall{"HostFree", CallRole::free, SetUpRole::memory},
    KnownCall{"Free", CallRole::free, SetUpRole::memory},
    KnownCall{"Malloc", CallRole::other, SetUpRole::memory},
    KnownCall{"HostAlloc", CallRole::other, SetUpRole::memory},
    KnownCall{"HostMalloc", CallRole::other, SetUpRole::memory},
    KnownCall{"HostRegister", CallRole::other, SetUpRole::memory},
    KnownCall{"HostUnregister", CallRole::other, SetUpRole::memory},
    KnownCall{"MemAlloc", CallRole::other, SetUpRole::memory},
    KnownCall{"MemHostAlloc", CallRole::other, SetUpRole::memory},
    KnownCall{"MemCreate", CallRole::other, SetUpRole::memory},
    KnownCall{"MemMap", CallRole::other, SetUpRole::memory},
    KnownCall{"MemSetAccess", CallRole::other, SetUpRole::memory},
    KnownCall{"CreateBuffer", CallRole::other, SetUpRole::memory},
    KnownCall{"ReleaseMemObject", CallRole::other, SetUpRole::memory},
    KnownCall{"ModuleLoad", CallRole::other, SetUpRole::program},
    KnownCall{"LibraryLoad", CallRole::other, SetUpRole::program},
    KnownCall{"LinkComplete", CallRole::other, SetUpRole::program},
    KnownCall{"LinkAddData", CallRole::other, SetUpRole::program},
    KnownCall{"BuildProgram", CallRole::other, SetUpRole::program},
    KnownCall{"CompileProgram", CallRole::other, SetUpRole::program},
    KnownCall{"LinkProgram", CallRole::other, SetUpRole::program},
    KnownCall{"ModuleGetFunction", CallRole::other, SetUpRole::device},
    KnownCall{"Memcpy", CallRole::copy, SetUpRole::device},
    KnownCall{"Memset", CallRole::copy, SetUpRole::device},
    KnownCall{"Mem", CallRole::other, SetUpRole::device},
    KnownCall{"StreamCreate", CallRole::other, SetUpRole::device},
    KnownCall{"EventCreate", CallRole::other, SetUpRole::device},
    KnownCall{"DeviceGetStreamPriorityRange", CallRole::other, SetUpRole::device},
    KnownCall{"DevicePrimaryCtxRetain", CallRole::other, SetUpRole::device},
    KnownCall{"Init", CallRole::other, SetUpRole::device},
    KnownCall{"CtxCreate", CallRole::other, SetUpRole::device},
    KnownCall{"SetDevice", CallRole::other, SetUpRole::device},
    KnownCall{"GetDevice", CallRole::other, SetUpRole::device},
};

std::string_view without_runtime(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip", "cl"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

KnownCall known_call(std::string_view name) {
  const std::string_view rest = without_runtime(name);
  if (base::contains(rest, "LaunchKernel") || base::contains(rest, "LaunchCooperative")) {
    return {rest, CallRole::launch, SetUpRole::none};
  }
  const auto known = std::ranges::find_if(
      kKnown, [&](const KnownCall& one) { return rest.starts_with(one.text); });
  if (known == kKnown.end()) return {};
  // Memory of a pool is taken and given back every day, in the order of the stream.
  const bool is_pooled = known->set_up == SetUpRole::memory && base::contains(rest, "Async");
  return is_pooled ? KnownCall{rest, CallRole::other, SetUpRole::device} : *known;
}

}  // namespace

CallRole call_role(std::string_view name) {
  return known_call(name).role;
}

SetUpRole set_up_role(std::string_view name) {
  return known_call(name).set_up;
}

std::vector<CallRole> call_roles(const trace::Trace& trace) {
  std::vector<CallRole> roles(trace.names.size());
  for (trace::NameId id = 0; id < roles.size(); ++id) roles[id] = call_role(trace.names.view(id));
  return roles;
}

}  // namespace fathom::analyze
