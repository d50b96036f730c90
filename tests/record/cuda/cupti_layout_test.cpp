#include <gtest/gtest.h>

#include <cstddef>

#include "record/cuda/cupti_records.h"

// The recorder reads records through the types of CUDA 12.0 (cupti_records.h). Here each field that
// it reads is at the same place in the newest type of these headers.
namespace fathom::record::cuda::cupti_layout_test {

#if CUPTI_API_VERSION >= 130000
#define EXPECT_SAME_PLACE(Old, New, field)                                  \
  EXPECT_EQ(offsetof(Old, field), offsetof(New, field)) << #New "." #field; \
  EXPECT_EQ(sizeof(Old::field), sizeof(New::field)) << #New "." #field

TEST(CuptiLayout, KernelsCopiesAndSyncsOnlyGrewAtTheEnd) {
  using Kernel = CUpti_ActivityKernel10;
  EXPECT_SAME_PLACE(KernelRecord, Kernel, start);
  EXPECT_SAME_PLACE(KernelRecord, Kernel, end);
  EXPECT_SAME_PLACE(KernelRecord, Kernel, deviceId);
  EXPECT_SAME_PLACE(KernelRecord, Kernel, streamId);
  EXPECT_SAME_PLACE(KernelRecord, Kernel, gridX);
  EXPECT_SAME_PLACE(KernelRecord, Kernel, blockZ);
  EXPECT_SAME_PLACE(KernelRecord, Kernel, correlationId);
  EXPECT_SAME_PLACE(KernelRecord, Kernel, name);
  using Copy = CUpti_ActivityMemcpy6;
  EXPECT_SAME_PLACE(CopyRecord, Copy, copyKind);
  EXPECT_SAME_PLACE(CopyRecord, Copy, bytes);
  EXPECT_SAME_PLACE(CopyRecord, Copy, start);
  EXPECT_SAME_PLACE(CopyRecord, Copy, end);
  EXPECT_SAME_PLACE(CopyRecord, Copy, deviceId);
  EXPECT_SAME_PLACE(CopyRecord, Copy, streamId);
  EXPECT_SAME_PLACE(CopyRecord, Copy, correlationId);
  using Sync = CUpti_ActivitySynchronization2;
  EXPECT_SAME_PLACE(SyncRecord, Sync, type);
  EXPECT_SAME_PLACE(SyncRecord, Sync, start);
  EXPECT_SAME_PLACE(SyncRecord, Sync, end);
  EXPECT_SAME_PLACE(SyncRecord, Sync, correlationId);
  EXPECT_SAME_PLACE(SyncRecord, Sync, streamId);
}

TEST(CuptiLayout, MemoryOverheadAndGraphsOnlyGrewAtTheEnd) {
  using Memory = CUpti_ActivityMemory4;
  EXPECT_SAME_PLACE(MemoryRecordOfCupti, Memory, memoryOperationType);
  EXPECT_SAME_PLACE(MemoryRecordOfCupti, Memory, memoryKind);
  EXPECT_SAME_PLACE(MemoryRecordOfCupti, Memory, correlationId);
  EXPECT_SAME_PLACE(MemoryRecordOfCupti, Memory, address);
  EXPECT_SAME_PLACE(MemoryRecordOfCupti, Memory, bytes);
  EXPECT_SAME_PLACE(MemoryRecordOfCupti, Memory, timestamp);
  EXPECT_SAME_PLACE(MemoryRecordOfCupti, Memory, deviceId);
  using Overhead = CUpti_ActivityOverhead3;
  EXPECT_SAME_PLACE(OverheadRecord, Overhead, overheadKind);
  EXPECT_SAME_PLACE(OverheadRecord, Overhead, objectKind);
  EXPECT_SAME_PLACE(OverheadRecord, Overhead, objectId);
  EXPECT_SAME_PLACE(OverheadRecord, Overhead, start);
  EXPECT_SAME_PLACE(OverheadRecord, Overhead, end);
  using Graph = CUpti_ActivityGraphTrace2;
  EXPECT_SAME_PLACE(GraphRecord, Graph, correlationId);
  EXPECT_SAME_PLACE(GraphRecord, Graph, start);
  EXPECT_SAME_PLACE(GraphRecord, Graph, end);
  EXPECT_SAME_PLACE(GraphRecord, Graph, graphId);
  EXPECT_SAME_PLACE(GraphRecord, Graph, streamId);
}
#undef EXPECT_SAME_PLACE
#endif

}  // namespace fathom::record::cuda::cupti_layout_test
