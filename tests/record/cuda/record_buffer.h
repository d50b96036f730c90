#pragma once

#include <cupti.h>

#include <cstring>
#include <map>
#include <vector>

#include "record/cuda/activity_buffers.h"

namespace fathom::record::cuda {

// The records as the CUPTI of these headers writes them, newest versions where there are several.
#if CUPTI_API_VERSION >= 130000
using NewKernel = CUpti_ActivityKernel10;
using NewCopy = CUpti_ActivityMemcpy6;
using NewSync = CUpti_ActivitySynchronization2;
using NewMemory = CUpti_ActivityMemory4;
using NewOverhead = CUpti_ActivityOverhead3;
using NewGraph = CUpti_ActivityGraphTrace2;
#else
using NewKernel = KernelRecord;
using NewCopy = CopyRecord;
using NewSync = SyncRecord;
using NewMemory = MemoryRecordOfCupti;
using NewOverhead = OverheadRecord;
using NewGraph = GraphRecord;
#endif

inline std::size_t size_of(CUpti_ActivityKind kind) {
  // Never destroyed: the last flush comes after the destructors of what was made later.
  static const auto& sizes = *new std::map<int, std::size_t>{
      {CUPTI_ACTIVITY_KIND_KERNEL, sizeof(NewKernel)},
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(NewKernel)},
      {CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(NewCopy)},
      {CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(PeerCopyRecord)},
      {CUPTI_ACTIVITY_KIND_MEMSET, sizeof(FillRecord)},
      {CUPTI_ACTIVITY_KIND_DRIVER, sizeof(ApiRecord)},
      {CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(ApiRecord)},
      {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(NewSync)},
      {CUPTI_ACTIVITY_KIND_MEMORY2, sizeof(NewMemory)},
      {CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(NewOverhead)},
      {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, sizeof(NewGraph)},
      {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, sizeof(ExternalRecord)},
      {CUPTI_ACTIVITY_KIND_STREAM, sizeof(CUpti_ActivityStream)},
  };
  const auto known = sizes.find(kind);
  return known == sizes.end() ? 0 : known->second;
}

// A buffer as CUPTI fills it: records one after the other.
class RecordBuffer {
 public:
  template <typename Record>
  RecordBuffer& add(const Record& record) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof record);
    std::memcpy(bytes_.data() + at, &record, sizeof record);
    return *this;
  }
  void cut(std::size_t bytes) { bytes_.resize(bytes_.size() - bytes); }
  FilledBuffer filled() { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<std::uint8_t> bytes_;
};

// Steps as cuptiActivityGetNextRecord does, but trusts the size of the last record, so that the
// reader's own check is what is tested.
inline CUptiResult next_record(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* at = buffer;
  if (*record != nullptr) {
    at = reinterpret_cast<std::uint8_t*>(*record);
    at += size_of((*record)->kind);
  }
  if (at + sizeof(CUpti_ActivityKind) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* next = reinterpret_cast<CUpti_Activity*>(at);
  if (size_of(next->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = next;
  return CUPTI_SUCCESS;
}

inline const char* test_call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == 211) return "cudaLaunchKernel_v7000";
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == 165) return "cudaDeviceSynchronize_v3020";
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == 307) return "cuLaunchKernel";
  return nullptr;
}

inline NewKernel kernel_record(const char* name, std::uint32_t correlation, std::uint64_t start,
                               std::uint64_t end) {
  NewKernel record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = name;
  record.correlationId = correlation;
  record.start = start;
  record.end = end;
  record.deviceId = 1;
  record.contextId = 2;
  record.streamId = 7;
  return record;
}

inline ApiRecord call_record(CUpti_ActivityKind kind, CUpti_CallbackId id,
                             std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  ApiRecord record{};
  record.kind = kind;
  record.cbid = id;
  record.correlationId = correlation;
  record.start = start;
  record.end = end;
  record.processId = 10;
  record.threadId = 4242;
  return record;
}

inline ExternalRecord scope_record(std::uint32_t correlation, std::uint64_t scope) {
  ExternalRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = kScopeIds;
  record.externalId = scope;
  record.correlationId = correlation;
  return record;
}

inline NewMemory memory_record(CUpti_ActivityMemoryOperationType type, std::uint64_t address,
                               std::uint64_t bytes, std::uint32_t correlation, std::uint64_t time) {
  NewMemory record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = type;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = address;
  record.bytes = bytes;
  record.correlationId = correlation;
  record.timestamp = time;
  record.deviceId = 1;
  return record;
}

}  // namespace fathom::record::cuda
