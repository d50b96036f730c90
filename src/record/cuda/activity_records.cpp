#include "record/cuda/activity_records.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace fathom::record::cuda {
namespace {

constexpr std::size_t kMostNames =
    65'536;  // a program that compiles kernels for ever stays bounded

GpuActivity activity(ActivityKind kind, const std::string& name, std::uint64_t start,
                     std::uint64_t end, std::uint32_t correlation) {
  GpuActivity made;
  made.kind = kind;
  made.name = name;
  made.backend = "cuda";
  made.start_ns = static_cast<std::int64_t>(start);
  made.end_ns = static_cast<std::int64_t>(end);
  if (correlation != 0) made.correlation = correlation;
  return made;
}

void place(GpuActivity& made, std::uint32_t device, std::uint32_t stream) {
  made.device = static_cast<std::int32_t>(device);
  made.queue = stream;
}

std::string_view memory_name(std::uint32_t kind) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "Unknown", "Pageable", "Pinned",        "Device",
      "Array",   "Managed",  "Device Static", "Managed Static"};
  return kNames[kind < kNames.size() ? kind : 0];
}

struct CopyKind {
  std::string_view name;
  CopyDirection direction;
};

// By CUpti_ActivityMemcpyKind.
CopyKind copy_kind(std::uint8_t kind) {
  static constexpr std::array<CopyKind, 11> kKinds = {{
      {"Unknown", CopyDirection::unknown},
      {"HtoD", CopyDirection::host_to_device},
      {"DtoH", CopyDirection::device_to_host},
      {"HtoA", CopyDirection::host_to_device},
      {"AtoH", CopyDirection::device_to_host},
      {"AtoA", CopyDirection::device_to_device},
      {"AtoD", CopyDirection::device_to_device},
      {"DtoA", CopyDirection::device_to_device},
      {"DtoD", CopyDirection::device_to_device},
      {"HtoH", CopyDirection::unknown},
      {"PtoP", CopyDirection::peer_to_peer},
  }};
  static_assert(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP + 1 == kKinds.size());
  return kKinds[kind < kKinds.size() ? kind : 0];
}

// The names that Kineto gives them too, so that runs and PyTorch traces compare by name.
std::string copy_name(std::string_view kind, std::uint8_t from, std::uint8_t to) {
  return fmt::format("Memcpy {} ({} -> {})", kind, memory_name(from), memory_name(to));
}

std::string_view sync_name(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return "Event Synchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return kStreamWait;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return "Stream Synchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "Context Synchronize";
    default:
      return "Synchronize";
  }
}

// Numbers and not the enumerators: the newer ones are not in the headers of CUDA 12.0.
std::string_view overhead_name(std::uint32_t kind) {
  if (kind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER) return "driver compiler";
  static constexpr std::array<std::string_view, 9> kNames = {"",
                                                             "CUPTI buffer flush",
                                                             "CUPTI instrumentation",
                                                             "CUPTI resources",
                                                             "module loading",
                                                             "lazy function loading",
                                                             "command buffer full",
                                                             "CUPTI buffer request",
                                                             "unified memory start"};
  const std::uint32_t upper = kind >> 16;
  return (kind & 0xFFFF) == 0 && upper > 0 && upper < kNames.size() ? kNames[upper] : "overhead";
}

// Only what looks mangled: the demangler reads "a", a fine name for a kernel, as "signed char".
std::string demangled(const char* mangled) {
  if (!std::string_view(mangled).starts_with("_Z")) return mangled;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : mangled;
}

}  // namespace

const std::string& KernelNames::readable(const char* mangled) {
  if (mangled == nullptr || *mangled == '\0') mangled = "(unnamed kernel)";
  const auto known = names_.find(std::string_view(mangled));
  if (known != names_.end()) return known->second;
  if (names_.size() >= kMostNames) names_.clear();
  return names_.emplace(mangled, demangled(mangled)).first->second;
}

std::string_view without_version(std::string_view call) {
  const std::size_t at = call.rfind("_v");
  if (at == std::string_view::npos || call.size() < at + 6) return call;  // cuMemAlloc_v2 stays
  const bool digits = call.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits ? call.substr(0, at) : call;
}

GpuActivity activity_of(const KernelRecord& record, KernelNames& names) {
  GpuActivity made = activity(ActivityKind::kernel, names.readable(record.name), record.start,
                              record.end, record.correlationId);
  place(made, record.deviceId, record.streamId);
  return made;
}

GpuActivity activity_of(const CopyRecord& record) {
  const CopyKind kind = copy_kind(record.copyKind);
  GpuActivity made =
      activity(ActivityKind::copy, copy_name(kind.name, record.srcKind, record.dstKind),
               record.start, record.end, record.correlationId);
  place(made, record.deviceId, record.streamId);
  made.direction = kind.direction;
  made.bytes = record.bytes;
  return made;
}

GpuActivity activity_of(const PeerCopyRecord& record) {
  GpuActivity made = activity(ActivityKind::copy, copy_name("PtoP", record.srcKind, record.dstKind),
                              record.start, record.end, record.correlationId);
  place(made, record.deviceId, record.streamId);
  made.direction = CopyDirection::peer_to_peer;
  made.bytes = record.bytes;
  return made;
}

GpuActivity activity_of(const FillRecord& record) {
  GpuActivity made =
      activity(ActivityKind::fill, fmt::format("Memset ({})", memory_name(record.memoryKind)),
               record.start, record.end, record.correlationId);
  place(made, record.deviceId, record.streamId);
  made.bytes = record.bytes;
  return made;
}

GpuActivity activity_of(const ApiRecord& record, CallName call_name) {
  const bool runtime = record.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  const CUpti_CallbackId id = record.cbid;
  const char* known =
      call_name(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, id);
  std::string name = known != nullptr
                         ? std::string(without_version(known))
                         : fmt::format("{} call {}", runtime ? "CUDA runtime" : "CUDA driver", id);
  GpuActivity made =
      activity(ActivityKind::api_call, name, record.start, record.end, record.correlationId);
  made.thread = record.threadId;
  return made;
}

GpuActivity activity_of(const SyncRecord& record) {
  GpuActivity made = activity(ActivityKind::sync, std::string(sync_name(record.type)), record.start,
                              record.end, record.correlationId);
  const bool has_stream = record.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT ||
                          record.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  if (has_stream) made.queue = record.streamId;
  return made;
}

GpuActivity activity_of(const OverheadRecord& record) {
  GpuActivity made =
      activity(ActivityKind::api_call, std::string(overhead_name(record.overheadKind)),
               record.start, record.end, 0);
  if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) made.thread = record.objectId.pt.threadId;
  return made;
}

GpuActivity activity_of(const GraphRecord& record) {
  GpuActivity made = activity(ActivityKind::kernel, fmt::format("graph {}", record.graphId),
                              record.start, record.end, record.correlationId);
  place(made, record.deviceId, record.streamId);
  return made;
}

MemoryRecord memory_record_of(const MemoryRecordOfCupti& record) {
  const auto bytes = static_cast<std::int64_t>(record.bytes);
  MemoryRecord made;
  made.time_ns = static_cast<std::int64_t>(record.timestamp);
  made.bytes =
      record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE ? -bytes : bytes;
  made.device = static_cast<std::int32_t>(record.deviceId);
  made.address = record.address;
  return made;
}

bool is_device_memory(const MemoryRecordOfCupti& record) {
  return record.memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE &&
         record.memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

bool only_asks(std::string_view call) {
  for (const std::string_view word : {"Query", "Get", "Peek", "Occupancy"}) {
    if (call.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace fathom::record::cuda
