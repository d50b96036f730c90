#pragma once

#include <atomic>
#include <cstdint>

#include "fathom/export.h"

namespace fathom::detail {

struct ThreadState;
class OperationStats;

// A place in the source that opens scopes. The index is found once, on first use; 0 until then.
struct Site {
  const char* name;
  std::atomic<std::uint16_t> index{0};
};

// A scope that has begun and not ended. It lives where the scope does and is linked into its
// thread's chain of open scopes, so it must end on the thread that began it, innermost first.
struct alignas(16) OpenScope {  // left as it is by construction, and set by enter
  ThreadState* thread;
  OperationStats* stats;  // null where the scope is not measured
  OpenScope* parent;
  std::uint64_t start;      // ticks
  std::uint64_t children;   // ticks spent in scopes directly inside
  std::uint64_t instance;   // given when GPU work refers to the scope, else 0
  std::uint32_t operation;  // 0 where sampling left it out
  unsigned uncaught;        // exceptions in flight when it began
};

// 0 while the global profiler is off. Anything else changes whenever threads have to take notice:
// of a reset, of a recording that starts or stops, of new options.
FATHOM_API extern std::atomic<std::uint64_t> global_generation;

// False where the scope is not to be ended: the profiler is off, or out of memory.
FATHOM_API bool enter(OpenScope& scope, Site& site) noexcept;
FATHOM_API void leave(OpenScope& scope) noexcept;

// Only the test for "off" is inlined: a call costs less than the code it would spread around.
class FixedScope {
 public:
  explicit FixedScope(Site& site) noexcept
      : live_(global_generation.load(std::memory_order_relaxed) != 0 && enter(open_, site)) {}
  ~FixedScope() {
    if (live_) leave(open_);
  }
  FixedScope(const FixedScope&) = delete;
  FixedScope& operator=(const FixedScope&) = delete;

 private:
  bool live_;
  OpenScope open_;
};

}  // namespace fathom::detail

#define FATHOM_JOIN_(a, b) a##b
#define FATHOM_JOIN(a, b) FATHOM_JOIN_(a, b)

// Profiles the rest of the enclosing block under a fixed name, at the lowest cost:
//   FATHOM_SCOPE("decode");
#define FATHOM_SCOPE(name) FATHOM_SCOPE_NUMBERED_(name, __COUNTER__)
#define FATHOM_SCOPE_NUMBERED_(name, number)                                          \
  static constinit ::fathom::detail::Site FATHOM_JOIN(fathom_site_, number){"" name}; \
  const ::fathom::detail::FixedScope FATHOM_JOIN(fathom_scope_,                       \
                                                 number)(FATHOM_JOIN(fathom_site_, number))
