// The life of a scope on its thread: the fast path of FATHOM_SCOPE, and the slow path for all the
// rest.
#include <algorithm>
#include <optional>

#include "fathom/detail/lanes.h"
#include "profiler/clock.h"
#include "profiler/core.h"
#include "profiler/free_scope.h"
#include "profiler/thread_state.h"

namespace fathom::detail {
namespace {

// In place of an operation.
constexpr OperationId kDisowned = UINT32_MAX;

OperationStats* make_stats(ThreadState& thread, OperationId operation) noexcept {
  try {
    auto stats = std::make_unique<OperationStats>();
    OperationStats* const made = stats.get();
    const std::lock_guard lock(thread.mutex);
    if (operation > kMaxIndex) thread.wide_operations.emplace(operation, made);
    thread.all_operations.emplace_back(operation, std::move(stats));
    if (operation <= kMaxIndex) thread.own_operations[operation] = made;
    return made;
  } catch (...) {
    return nullptr;
  }
}

OperationStats* stats_of(ThreadState& thread, OperationId operation) noexcept {
  if (operation <= kMaxIndex) {
    OperationStats* const stats = thread.own_operations[operation];
    return stats != nullptr ? stats : make_stats(thread, operation);
  }
  const auto found = thread.wide_operations.find(operation);
  return found != thread.wide_operations.end() ? found->second : make_stats(thread, operation);
}

inline void link(ThreadState& thread, OpenScope& scope, OperationStats* stats,
                 OperationId operation) noexcept {
  scope.thread = &thread;
  scope.stats = stats;
  scope.operation = operation;
  scope.children = 0;
  scope.instance = 0;
  scope.parent = thread.open;
  scope.uncaught = *thread.uncaught.load(std::memory_order_relaxed);
  stats->begin();
  thread.open = &scope;
}

void push_begin(ThreadState& thread, const OpenScope& scope, std::uint64_t time) noexcept {
  if (scope.operation > kMaxIndex) {
    push(thread, escape_word(Escape::operation, scope.operation));
    push(thread, begin_word(time, kWide));
  } else {
    push(thread, begin_word(time, scope.operation));
  }
}

// Open scopes inside `scope`; none when it is not open on this thread.
std::optional<std::size_t> count_inside(const ThreadState& thread, const OpenScope& scope) {
  std::size_t inside = 0;
  for (const OpenScope* at = thread.open; at != &scope; at = at->parent, ++inside) {
    if (at == &thread.root) return std::nullopt;
  }
  return inside;
}

OpenScope& outward(OpenScope* from, std::size_t steps) {
  for (; steps > 0; --steps) from = from->parent;
  return *from;
}

// Scopes on one track nest. Where one ends before those inside it, they end with it, and begin
// again around nothing of it.
void push_end(ThreadState& thread, const OpenScope& scope, std::size_t inside, std::uint64_t end,
              bool failed, std::string_view annotations) noexcept {
  for (std::size_t i = 0; i < inside; ++i) push(thread, end_word(end));
  if (failed) push(thread, escape_word(Escape::failed));
  if (scope.instance != 0) push(thread, escape_word(Escape::instance, scope.instance));
  if (!annotations.empty()) push_annotations(thread, annotations);
  if ((end - scope.start) >> 47 != 0) push(thread, escape_word(Escape::time, end >> 48));
  push(thread, end_word(end));
  for (std::size_t i = inside; i > 0; --i) push_begin(thread, outward(thread.open, i - 1), end);
  settle(thread);
}

// A scope that began while there was a profile to be in, and ends in whatever way.
void leave_any_way(OpenScope& scope, std::uint64_t end, std::string_view annotations,
                   bool has_failed) noexcept {
  if (scope.operation == kDisowned) return;
  ThreadState& thread = *scope.thread;
  if (scope.operation == 0) {  // sampling left it out
    --thread.skipped;
    return;
  }
  // CPUs' clocks may be a few ticks apart.
  end = std::max(end, scope.start);
  const std::uint64_t duration = end - scope.start;
  const bool failed = has_failed || *thread.own_uncaught > scope.uncaught;
  const std::optional<std::size_t> inside = count_inside(thread, scope);
  if (!inside) return;
  push_end(thread, scope, *inside, end, failed, annotations);
  (*inside == 0 ? thread.open : outward(thread.open, *inside - 1).parent) = scope.parent;
  // Of those inside, which go on around nothing of it, only the time until now was spent in it.
  const std::uint64_t inside_it =
      *inside == 0 ? 0 : end - std::min(end, outward(thread.open, *inside - 1).start);
  scope.children += inside_it;
  scope.parent->children += duration - std::min(duration, inside_it);
  if (scope.stats == nullptr) return;  // a reset came in between
  if (scope.instance != 0) {
    thread.core->activities.add(ScopeInstance{scope.instance, scope.parent->instance,
                                              scope.operation, thread.tid, scope.start, end});
  }
  const std::uint64_t self = duration - std::min(duration, scope.children);
  if (duration >= OperationStats::kLong) {
    scope.stats->add_long(duration, self);
  } else {
    scope.stats->add(duration, self);
  }
  if (failed) scope.stats->add_failure();
}

void leave_slowly(OpenScope& scope, std::uint64_t end, std::string_view annotations,
                  bool has_failed = false) noexcept {
  if (scope.operation == kDisowned) return;
  close_abandoned(*scope.thread);
  leave_any_way(scope, end, annotations, has_failed);
}

}  // namespace

bool begin_scope(ThreadState& thread, OpenScope& scope, OperationId operation,
                 std::string_view annotations) noexcept {
  Core& core = *thread.core;
  const std::uint64_t generation = core.generation();
  if (generation == 0) return false;
  close_abandoned(thread);
  if (generation != thread.seen) core.adopt(thread);
  if (thread.skipped > 0 || (thread.open == &thread.root && !core.samples(thread))) {
    ++thread.skipped;
    scope.thread = &thread;
    scope.stats = nullptr;
    scope.operation = 0;
    return true;
  }
  OperationStats* const stats = operation != 0 ? stats_of(thread, operation) : nullptr;
  if (stats == nullptr) {
    core.count_lost_scope();
    return false;
  }
  if (!annotations.empty()) push_annotations(thread, annotations);
  link(thread, scope, stats, operation);
  scope.start = ticks();
  push_begin(thread, scope, scope.start);
  settle(thread);
  return true;
}

ScopeRef refer_to_innermost(ThreadState& thread) noexcept {
  if (thread.skipped > 0) return {};
  for (OpenScope* scope = thread.open; scope != &thread.root && scope->instance == 0;
       scope = scope->parent) {
    scope->instance = thread.core->activities.next_instance();
  }
  return {thread.open->instance};
}

OperationId operation_of(const ThreadState& thread, ScopeRef scope) noexcept {
  for (const OpenScope* open = thread.open; scope && open != &thread.root; open = open->parent) {
    if (open->instance == scope.instance) return open->operation;
  }
  return 0;
}

void end_scope(OpenScope& scope, std::uint64_t end, std::string_view annotations,
               bool failed) noexcept {
  leave_any_way(scope, end, annotations, failed);
}

void disown_open_scopes(ThreadState& thread) noexcept {
  for (OpenScope* scope = thread.open; scope != &thread.root; scope = scope->parent) {
    scope->operation = kDisowned;
    scope->stats = nullptr;
    scope->instance = 0;
  }
  thread.open = &thread.root;
}

namespace {

[[gnu::noinline]] bool enter_slowly(OpenScope& scope, Site& site) noexcept {
  const auto& core = global_core();
  if (core == nullptr) return false;
  ThreadState* const thread = core->thread();
  if (thread == nullptr) {
    core->count_lost_scope();
    return false;
  }
  OperationId operation = site.index.load(std::memory_order_relaxed);
  if (operation == 0) {
    operation = operation_id(site.name);
    if (operation <= kMaxIndex) {
      site.index.store(static_cast<std::uint16_t>(operation), std::memory_order_relaxed);
    }
  }
  return begin_scope(*thread, scope, operation, {});
}

[[gnu::noinline]] bool enter_next_block(ThreadState& thread) noexcept {
  next_block(thread);
  return true;
}

inline void finish(const OpenScope& scope, std::uint64_t duration) noexcept {
  scope.thread->open = scope.parent;
  scope.parent->children += duration;
  scope.stats->add(duration, duration - std::min(duration, scope.children));
}

[[gnu::noinline]] void leave_next_block(const OpenScope& scope, std::uint64_t duration) noexcept {
  next_block(*scope.thread);
  finish(scope, duration);
}

[[gnu::noinline]] void leave_any(OpenScope& scope, std::uint64_t end) noexcept {
  leave_slowly(scope, end, {});
}

[[gnu::noinline]] void leave_by_slow_clock(OpenScope& scope) noexcept {
  leave_slowly(scope, ticks(), {});
}

}  // namespace

// Both call nothing but as their very last act, so that they have no registers to save.

bool enter(OpenScope& scope, Site& site) noexcept {
  ThreadState* const thread = current_thread;
  const std::uint16_t index = site.index.load(std::memory_order_relaxed);
  if (thread == nullptr || !ticks_are_quick() ||
      thread->generation != global_generation.load(std::memory_order_relaxed)) [[unlikely]] {
    return enter_slowly(scope, site);
  }
  OperationStats* const stats = thread->operations.load(std::memory_order_relaxed)[index];
  if (stats == nullptr) [[unlikely]]
    return enter_slowly(scope, site);
  link(*thread, scope, stats, index);
  scope.start = quick_ticks();
  if (put(*thread, begin_word(scope.start, index))) [[unlikely]]
    return enter_next_block(*thread);
  return true;
}

void leave(OpenScope& scope) noexcept {
  if (!ticks_are_quick()) [[unlikely]]
    return leave_by_slow_clock(scope);
  const std::uint64_t end = quick_ticks();
  ThreadState& thread = *scope.thread;
  const std::uint64_t duration = end - scope.start;
  if (duration >= OperationStats::kLong || scope.stats == nullptr || thread.open != &scope ||
      scope.instance != 0 || *thread.uncaught.load(std::memory_order_relaxed) != scope.uncaught)
      [[unlikely]] {
    return leave_any(scope, end);
  }
  if (put(thread, end_word(end))) [[unlikely]]
    return leave_next_block(scope, duration);
  finish(scope, duration);
}

void leave_at(OpenScope& scope, std::uint64_t end, bool failed) noexcept {
  leave_slowly(scope, end, {}, failed);
}

void leave_failed(OpenScope& scope) noexcept {
  leave_slowly(scope, ticks(), {}, true);
}

std::uint64_t scope_ticks() noexcept {
  return ticks();
}

void use_lane(std::uint32_t lane) noexcept {
  if (lane == current_lane) return;
  current_lane = lane;
  if (current_thread != nullptr) global_core()->thread();
}

void disown_this_thread() noexcept {
  const auto& core = global_core();
  ThreadState* const thread = core != nullptr ? core->existing_thread() : nullptr;
  if (thread == nullptr) return;
  disown_open_scopes(*thread);
  for (ThreadState* const lane : thread->lanes) {
    if (lane != nullptr) disown_open_scopes(*lane);
  }
}

}  // namespace fathom::detail
