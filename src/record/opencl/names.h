#pragma once

#include <CL/cl.h>

#include <string_view>

namespace fathom::record::opencl {

// The same text at the same place, for as long as the process lives. "" when memory runs out.
const char* intern(std::string_view text) noexcept;

// A kernel's name: asked of the driver once per kernel object, when it is made.
void name_kernel(cl_kernel kernel) noexcept;
const char* kernel_name(cl_kernel kernel) noexcept;

// Around a fork.
void lock_names() noexcept;
void unlock_names() noexcept;

}  // namespace fathom::record::opencl
