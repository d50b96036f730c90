#pragma once

#include <cstdint>

#include "fathom/detail/fixed_scope.h"
#include "fathom/export.h"

// For languages whose scopes do not keep to the thread's stack: Python's tasks and generators.
namespace fathom::detail {

// A lane is a chain of open scopes with a timeline of its own. A thread has lane 0 and as many more
// as it has tasks that are in a scope at the same time; whoever switches tasks says which lane the
// next scopes of the calling thread belong to.
FATHOM_API void use_lane(std::uint32_t lane) noexcept;

// For scopes that end where C++ does not see how, or ended earlier.
FATHOM_API void leave_failed(OpenScope& scope) noexcept;  // by an exception of that language
FATHOM_API std::uint64_t scope_ticks() noexcept;          // now, as scopes measure it
FATHOM_API void leave_at(OpenScope& scope, std::uint64_t end, bool failed) noexcept;

// The calling thread ends: what is open of it is not counted, and may be left at any time.
FATHOM_API void disown_this_thread() noexcept;

}  // namespace fathom::detail
