#include "record/cuda/record_reader.h"

#include <cstdlib>
#include <cstring>

namespace fathom::record::cuda {

// Hands `use` a copy of the record: the buffer holds bytes, not objects.
template <typename Record, typename Use>
void RecordReader::with(const CUpti_Activity* record, std::size_t available, Use use) {
  if (available < sizeof(Record)) {
    ++losses_.cut;
    return;
  }
  Record copy;
  std::memcpy(&copy, record, sizeof copy);
  use(copy);
}

void RecordReader::read(const CUpti_Activity* record, std::size_t available) {
  const auto as_activity = [this](const auto& known) { hand_on(activity_of(known)); };
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return with<KernelRecord>(record, available, [this](const KernelRecord& kernel) {
        hand_on(activity_of(kernel, names_));
      });
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return with<CopyRecord>(record, available, as_activity);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return with<PeerCopyRecord>(record, available, as_activity);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return with<FillRecord>(record, available, as_activity);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return with<ApiRecord>(record, available, [this](const ApiRecord& call) {
        hand_on(activity_of(call, call_name_));
      });
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return with<SyncRecord>(record, available, as_activity);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return with<GraphRecord>(record, available, as_activity);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return read_overhead(record, available);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return with<MemoryRecordOfCupti>(
          record, available, [this](const MemoryRecordOfCupti& memory) { read_memory(memory); });
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return with<ExternalRecord>(record, available, [this](const ExternalRecord& external) {
        if (external.externalKind != kScopeIds) return;  // of the program or another tool
        links_.note_scope(external.correlationId, ScopeRef{external.externalId});
      });
    default:
      ++losses_.unknown;
  }
}

void RecordReader::hand_on(GpuActivity activity) {
  if (activity.start_ns == 0) {
    ++losses_.untimed;
    return;
  }
  if (activity.end_ns < activity.start_ns) {
    ++losses_.unfinished;
    return;
  }
  activity.start_ns = clock_.ours(activity.start_ns);
  activity.end_ns = clock_.ours(activity.end_ns);
  if (activity.correlation) {
    const LaunchOrigin launch = links_.find(static_cast<std::uint32_t>(*activity.correlation));
    activity.scope = launch.scope;
    // A wait's record does not say whose it was. One on the GPU, between streams, is nobody's.
    const bool waited = activity.kind == ActivityKind::sync;
    if (waited && !activity.thread && activity.name != kStreamWait) activity.thread = launch.thread;
  }
  sink_.activity(activity);
}

void RecordReader::read_overhead(const CUpti_Activity* record, std::size_t available) {
#if CUPTI_API_VERSION >= 130000
  if (frees_overhead_data_ && available >= sizeof(CUpti_ActivityOverhead3)) {
    CUpti_ActivityOverhead3 newest;
    std::memcpy(&newest, record, sizeof newest);
    std::free(newest.overheadData);
  }
#endif
  with<OverheadRecord>(record, available,
                       [this](const OverheadRecord& overhead) { hand_on(activity_of(overhead)); });
}

void RecordReader::read_memory(const MemoryRecordOfCupti& record) {
  if (!is_device_memory(record)) return;
  MemoryRecord memory = memory_record_of(record);
  memory.time_ns = clock_.ours(memory.time_ns);
  const LaunchOrigin by = links_.find(record.correlationId);
  memory.scope = by.scope;
  memory.thread = by.thread;
  if (record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION) {
    alive_[record.address] = memory.bytes;
  } else if (const auto known = alive_.find(record.address); known != alive_.end()) {
    // What was allocated is what is freed, also where the release does not repeat the size.
    memory.bytes = -known->second;
    alive_.erase(known);
  }
  if (memory.bytes != 0) sink_.memory(memory);
}

}  // namespace fathom::record::cuda
