#pragma once

namespace fathom::runtime {

// kernels.cu for every kind of GPU that the toolkit knows, as cuModuleLoadData takes it.
const void* cuda_kernels();

}  // namespace fathom::runtime
