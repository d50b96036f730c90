#pragma once

#include <string_view>

namespace fathom::advise {

// The name of a kernel without what it returns, is part of and takes, as profilers call it:
// "void flash::flash_fwd_kernel<Traits<64>>(Params)" → "flash_fwd_kernel". All of it, where it is
// not such a name.
std::string_view kernel_base_name(std::string_view kernel);

// Letters, digits and underscores alone: the same in a pattern.
bool is_plain_name(std::string_view name);

}  // namespace fathom::advise
