#pragma once

#include <cupti.h>

// The records as CUDA 12.0 laid them out. Later versions only append to them (Kernel10, Memcpy6,
// Memory4, Overhead3, …), so a field read through these types is where it is in the records of
// every CUPTI since, whatever headers this was compiled with and whatever libcupti the program
// runs with. tests/record/cuda/cupti_layout_test.cpp holds them against the newest ones.
#if CUPTI_API_VERSION < 19
#error "fathom's CUDA recorder needs the CUPTI of CUDA 12.0 or later"
#endif

namespace fathom::record::cuda {

inline constexpr std::uint32_t kOldestCupti = 19;  // CUDA 12.0

using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;
using ApiRecord = CUpti_ActivityAPI;
using SyncRecord = CUpti_ActivitySynchronization;
using MemoryRecordOfCupti = CUpti_ActivityMemory3;
using OverheadRecord = CUpti_ActivityOverhead;
using GraphRecord = CUpti_ActivityGraphTrace;
using ExternalRecord = CUpti_ActivityExternalCorrelation;

// The kind of external correlation ids that are ours: the innermost scope of the calling thread.
inline constexpr CUpti_ExternalCorrelationKind kScopeIds = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;

}  // namespace fathom::record::cuda
