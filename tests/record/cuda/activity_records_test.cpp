#include "record/cuda/activity_records.h"

#include <gtest/gtest.h>

#include "record/cuda/record_buffer.h"

namespace fathom::record::cuda::activity_records_test {

TEST(ActivityRecords, AKernelHasItsReadableNameItsPlaceAndItsTimes) {
  KernelNames names;
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = "_Z9transposeIfEvPT_PKS0_i";
  record.deviceId = 3;
  record.streamId = 17;
  record.correlationId = 99;
  record.start = 1'794'773'686'783'454'168;
  record.end = 1'794'773'686'783'454'169;
  const GpuActivity made = activity_of(record, names);
  EXPECT_EQ(made.kind, ActivityKind::kernel);
  EXPECT_EQ(made.name, "void transpose<float>(float*, float const*, int)");
  EXPECT_EQ(made.backend, "cuda");
  EXPECT_EQ(made.device, 3);
  EXPECT_EQ(made.queue, 17);
  EXPECT_EQ(made.correlation, 99);
  EXPECT_EQ(made.start_ns, 1'794'773'686'783'454'168);
  EXPECT_EQ(made.end_ns - made.start_ns, 1);
  EXPECT_FALSE(made.thread);
  EXPECT_FALSE(made.bytes);
}

TEST(ActivityRecords, NamesThatAreNotMangledStayAsTheyAre) {
  KernelNames names;
  EXPECT_EQ(names.readable("my_kernel"), "my_kernel");
  EXPECT_EQ(names.readable("a"), "a");  // to the demangler, a type
  EXPECT_EQ(names.readable("_Zgarbage("), "_Zgarbage(");
  EXPECT_EQ(names.readable(nullptr), "(unnamed kernel)");
  EXPECT_EQ(names.readable(""), "(unnamed kernel)");
}

TEST(ActivityRecords, ANameIsFoundByItsTextNotByItsAddress) {
  KernelNames names;
  char memory[] = "_Z1av";
  EXPECT_EQ(names.readable(memory), "a()");
  memory[3] = 'b';  // the module was unloaded and another one took its place
  EXPECT_EQ(names.readable(memory), "b()");
}

TEST(ActivityRecords, ADozenThousandNamesMoreThanAreKeptStillReadRight) {
  KernelNames names;
  for (int i = 0; i < 78'000; ++i) {
    const std::string name = "kernel_" + std::to_string(i);
    ASSERT_EQ(names.readable(name.c_str()), name);
  }
}

TEST(ActivityRecords, CopiesSayWhatMovedAndWhichWay) {
  struct Case {
    int kind;
    CopyDirection direction;
    std::string name;
  };
  const Case cases[] = {
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CopyDirection::host_to_device, "HtoD"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOA, CopyDirection::host_to_device, "HtoA"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CopyDirection::device_to_host, "DtoH"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, CopyDirection::device_to_host, "AtoH"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CopyDirection::device_to_device, "DtoD"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOA, CopyDirection::device_to_device, "AtoA"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, CopyDirection::device_to_device, "AtoD"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOA, CopyDirection::device_to_device, "DtoA"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, CopyDirection::peer_to_peer, "PtoP"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CopyDirection::unknown, "HtoH"},
      {77, CopyDirection::unknown, "Unknown"},
  };
  for (const Case& wanted : cases) {
    CopyRecord record{};
    record.copyKind = static_cast<std::uint8_t>(wanted.kind);
    record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.bytes = 5'000'000'000;
    const GpuActivity made = activity_of(record);
    EXPECT_EQ(made.kind, ActivityKind::copy);
    EXPECT_EQ(made.direction, wanted.direction) << wanted.name;
    EXPECT_EQ(made.name, "Memcpy " + wanted.name + " (Pinned -> Device)");
    EXPECT_EQ(made.bytes, 5'000'000'000);
  }
}

TEST(ActivityRecords, ACopyBetweenDevicesIsOneBetweenPeers) {
  PeerCopyRecord record{};
  record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.dstKind = 200;  // newer than these headers
  record.bytes = 4096;
  record.deviceId = 1;
  const GpuActivity made = activity_of(record);
  EXPECT_EQ(made.direction, CopyDirection::peer_to_peer);
  EXPECT_EQ(made.name, "Memcpy PtoP (Device -> Unknown)");
  EXPECT_EQ(made.bytes, 4096);
  EXPECT_EQ(made.device, 1);
}

TEST(ActivityRecords, AFillHasItsBytes) {
  FillRecord record{};
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  record.bytes = 64;
  record.streamId = 13;
  const GpuActivity made = activity_of(record);
  EXPECT_EQ(made.kind, ActivityKind::fill);
  EXPECT_EQ(made.name, "Memset (Managed)");
  EXPECT_EQ(made.bytes, 64);
  EXPECT_EQ(made.queue, 13);
}

TEST(ActivityRecords, CallsHaveTheNamesThatProgrammersKnow) {
  const GpuActivity runtime =
      activity_of(call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 5, 10, 20), test_call_name);
  EXPECT_EQ(runtime.kind, ActivityKind::api_call);
  EXPECT_EQ(runtime.name, "cudaLaunchKernel");
  EXPECT_EQ(runtime.thread, 4242);
  EXPECT_EQ(runtime.correlation, 5);
  EXPECT_FALSE(runtime.queue);
  const GpuActivity driver =
      activity_of(call_record(CUPTI_ACTIVITY_KIND_DRIVER, 307, 5, 10, 20), test_call_name);
  EXPECT_EQ(driver.name, "cuLaunchKernel");
  const GpuActivity newer =
      activity_of(call_record(CUPTI_ACTIVITY_KIND_DRIVER, 9999, 5, 10, 20), test_call_name);
  EXPECT_EQ(newer.name, "CUDA driver call 9999");
}

TEST(ActivityRecords, OnlyTheVersionOfARuntimeCallIsTakenOff) {
  EXPECT_EQ(without_version("cudaMemcpyAsync_v3020"), "cudaMemcpyAsync");
  EXPECT_EQ(without_version("cudaLaunchKernelExC_v11060"), "cudaLaunchKernelExC");
  EXPECT_EQ(without_version("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(without_version("cuMemcpyHtoD_v2_ptds"), "cuMemcpyHtoD_v2_ptds");
  EXPECT_EQ(without_version("cudaMalloc"), "cudaMalloc");
  EXPECT_EQ(without_version(""), "");
}

TEST(ActivityRecords, WaitsSayWhatIsWaitedFor) {
  SyncRecord record{};
  record.streamId = 7;
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  EXPECT_EQ(activity_of(record).kind, ActivityKind::sync);
  EXPECT_EQ(activity_of(record).name, "Stream Synchronize");
  EXPECT_EQ(activity_of(record).queue, 7);
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  record.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  EXPECT_EQ(activity_of(record).name, "Context Synchronize");
  EXPECT_FALSE(activity_of(record).queue);
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  EXPECT_EQ(activity_of(record).name, "Event Synchronize");
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  EXPECT_EQ(activity_of(record).name, "Stream Wait Event");
}

TEST(ActivityRecords, OverheadIsTimeInsideTheRuntimeOnItsThread) {
  OverheadRecord record{};
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.threadId = 31;
  EXPECT_EQ(activity_of(record).kind, ActivityKind::api_call);
  EXPECT_EQ(activity_of(record).name, "CUPTI buffer flush");
  EXPECT_EQ(activity_of(record).thread, 31);
  record.objectKind = CUPTI_ACTIVITY_OBJECT_CONTEXT;
  EXPECT_FALSE(activity_of(record).thread);
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER;
  EXPECT_EQ(activity_of(record).name, "driver compiler");
  record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(5 << 16);
  EXPECT_EQ(activity_of(record).name, "lazy function loading");
  record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(99 << 16);
  EXPECT_EQ(activity_of(record).name, "overhead");
}

TEST(ActivityRecords, CallsThatOnlyAskAreKnown) {
  for (const char* call :
       {"cudaEventQuery_v3020", "cudaStreamQuery", "cudaGetLastError_v3020", "cuCtxGetCurrent",
        "cudaPeekAtLastError_v3020", "cuOccupancyMaxActive"}) {
    EXPECT_TRUE(only_asks(call)) << call;
  }
  for (const char* call : {"cudaLaunchKernel_v7000", "cuMemcpyHtoDAsync_v2", "cudaMalloc_v3020",
                           "cudaGraphLaunch_v10000", "cudaMemsetAsync_v3020", "cuLaunchKernelEx"}) {
    EXPECT_FALSE(only_asks(call)) << call;
  }
}

}  // namespace fathom::record::cuda::activity_records_test
