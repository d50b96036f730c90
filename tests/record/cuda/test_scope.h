#pragma once

#include <cstdint>

namespace fathom::record::cuda {

extern thread_local std::uint64_t test_scope;  // the innermost scope of this thread; 0 is none

}  // namespace fathom::record::cuda
