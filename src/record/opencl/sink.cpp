#include "record/opencl/sink.h"

#include <atomic>

#include "fathom/profiler.h"
#include "record/opencl/forever.h"
#include "record/opencl/handle_map.h"

namespace fathom::record::opencl {
namespace {

// Our names, by where they are, as the profiler numbers them.
Forever<HandleMap<Name>> profiler_names;

Name number_of(const char* name) noexcept {
  const Name known = profiler_names->find(name);
  if (!known.empty()) [[likely]]
    return known;
  const Name made(name);
  profiler_names->set(name, made);
  return made;
}

// What every activity begins as. Copying it takes a few moves, where filling 200 bytes with zeros
// is a string instruction to GCC, which takes 15 ns to begin.
const GpuActivity& blank_activity() noexcept {
  static const GpuActivity blank = [] {
    GpuActivity activity;
    activity.backend = Name("opencl");
    return activity;
  }();
  return blank;
}

ActivityKind kind_of(const QueuedCommand& command) noexcept {
  switch (command.kind) {
    case Kind::kernel:
      return command.status == 0 ? ActivityKind::kernel : ActivityKind::other;
    case Kind::copy:
      return command.status == 0 ? ActivityKind::copy : ActivityKind::other;
    case Kind::fill:
      return command.status == 0 ? ActivityKind::fill : ActivityKind::other;
    default:
      return ActivityKind::other;
  }
}

void memory_changed(const QueuedCommand& command) noexcept {
  const auto bytes = static_cast<std::int64_t>(command.bytes);
  MemoryRecord record;
  record.time_ns = command.start_ns;
  record.bytes = command.kind == Kind::allocation ? bytes : -bytes;
  record.device = command.device;
  record.address = command.address;
  record.scope = {command.scope};
  record.name = number_of(command.name);
  record.thread = command.thread;
  record.is_handle = command.is_object;
  profiler().record(record);
}

}  // namespace

void returned(const Call& call) noexcept {
  GpuActivity activity = blank_activity();
  activity.kind = call.kind == Kind::sync ? ActivityKind::sync : ActivityKind::api_call;
  activity.name = number_of(call.name);
  activity.thread = call.thread;
  if (call.correlation != 0) activity.correlation = static_cast<std::int64_t>(call.correlation);
  activity.scope = {call.scope};
  activity.start_ns = call.begin_ns;
  activity.end_ns = call.end_ns;
  activity.status = call.status;
  if (!call.message.empty()) activity.message = Name(call.message);
  profiler().record(activity);
}

void finished(const QueuedCommand& command) noexcept {
  if (command.kind == Kind::allocation || command.kind == Kind::free) {
    memory_changed(command);
    return;
  }
  GpuActivity activity = blank_activity();
  activity.kind = kind_of(command);
  activity.direction = command.direction;
  activity.name = number_of(command.name);
  activity.start_ns = command.start_ns;
  activity.end_ns = command.end_ns;
  activity.scope = {command.scope};
  activity.status = command.status;
  if (command.thread != 0) activity.thread = command.thread;
  if (command.correlation != 0) {
    activity.correlation = static_cast<std::int64_t>(command.correlation);
  }
  activity.device = command.device;
  activity.queue = command.queue;
  activity.queued_ns = command.queued_ns;
  activity.submit_ns = command.submit_ns;
  if (command.bytes != kNoBytes) activity.bytes = command.bytes;
  activity.size.dimensions = command.dimensions;
  for (std::size_t i = 0; i < command.global.size(); ++i) {
    activity.size.global[i] = command.global[i];
    activity.size.local[i] = command.local[i];
  }
  profiler().record(activity);
}

void device_found(std::int32_t index, const char* name) noexcept {
  profiler().record(DeviceRecord{index, Name(name)});
}

std::uint64_t open_scope() noexcept {
  return profiler().innermost_scope().instance;
}

void lost(Unrecorded /*why*/, std::uint64_t count) noexcept {
  profiler().count_lost_activities(count);
}

}  // namespace fathom::record::opencl
