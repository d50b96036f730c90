#pragma once

#include "fathom/export.h"

namespace fathom {

// Records the OpenCL work of this program, as `fathom profile` does from outside: kernels, copies
// and calls are attributed to the scopes that made them, and entries() and summary() have their
// four parts. To be called once, before the program's first OpenCL call, from its first thread:
// the loader reads its environment then, and never again. Children inherit it.
//
// False, with the reason on standard error, where Fathom's OpenCL layer is not beside its library.
FATHOM_API bool record_opencl() noexcept;

}  // namespace fathom
