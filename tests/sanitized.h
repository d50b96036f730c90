#pragma once

// Whether a sanitizer watches: tests that repeat themselves to be sure of a figure repeat less
// there, because every way through the code is gone by the first time.
namespace fathom {

#if defined(FATHOM_ADDRESS_SANITIZER) || defined(FATHOM_THREAD_SANITIZER)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace fathom
