#pragma once

#include <cstdint>

// A CUPTI without a GPU: it makes the callbacks and writes the records that the real one makes for
// the calls below. Chosen with FATHOM_CUPTI; programs reach these functions with dlsym.
// FAKE_CUPTI holds words that make it behave badly:
//   refuse  every activity kind is refused with 999, as without a driver
//   busy    another profiler has subscribed
//   clock   it keeps its own clock
//   hang    a forced flush, the one at exit, does not return
//   drop    each flush says that three records were dropped
extern "C" {
void fake_cuda_launch(const char* kernel);  // cudaLaunchKernel and its kernel
void fake_cuda_graph_launch(int kernels);   // cudaGraphLaunch and its kernels
void fake_cuda_malloc(std::uint64_t address, std::uint64_t bytes);
void fake_cuda_poll();                // cudaEventQuery
void fake_cuda_device_reset();        // loses what was not flushed
std::uint64_t fake_cuda_callbacks();  // made so far
}
