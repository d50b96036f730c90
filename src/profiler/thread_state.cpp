#include "profiler/thread_state.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <new>
#include <string>

#include "profiler/core.h"

namespace fathom::detail {
namespace {

// What a thread that is to take the slow path knows of operations, and of its exceptions.
OperationStats* no_operations[kMaxIndex + 1];
constexpr unsigned kNotCounted = UINT_MAX;

constexpr std::size_t kTableBytes = (kMaxIndex + 1) * sizeof(OperationStats*);

// Half a megabyte of addresses a thread; memory comes only for the pages in use. So an index needs
// no check against the size of a table.
OperationStats** map_table() {
  void* const table = mmap(nullptr, kTableBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (table == MAP_FAILED) throw std::bad_alloc();
  return static_cast<OperationStats**>(table);
}

// The C++ ABI says what a thread's exception globals look like; reading the count there costs two
// loads where std::uncaught_exceptions() costs a call.
const unsigned* uncaught_counter() {
  struct Globals {
    void* caught_exceptions;
    unsigned uncaught_exceptions;
  };
  return &reinterpret_cast<const Globals*>(abi::__cxa_get_globals())->uncaught_exceptions;
}

std::string thread_name(std::uint32_t lane) {
  char name[16] = {};  // the longest that Linux has
  if (lane > 0) return "tasks " + std::to_string(lane + 1);
  if (pthread_getname_np(pthread_self(), name, sizeof name) != 0) return {};
  return name;
}

// Beyond the numbers that Linux gives.
constexpr std::int64_t kFirstLaneTid = std::int64_t{1} << 30;

std::uint32_t next_number() {
  static std::atomic<std::uint32_t> count = 0;
  return count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

constinit thread_local ThreadState* current_thread = nullptr;
constinit thread_local std::uint32_t current_lane = 0;

ThreadState::ThreadState(Core& owner, std::uint32_t lane_number)
    : open(&root),
      own_operations(map_table()),
      own_uncaught(uncaught_counter()),
      core(&owner),
      tid(gettid()),
      number(next_number()),
      lane(lane_number),
      name(thread_name(lane_number)),
      track_tid(lane_number == 0 ? tid : kFirstLaneTid + number),
      scratch(std::make_unique<Block>()) {
  random = static_cast<std::uint64_t>(tid) * 0x9E3779B97F4A7C15 + 1;
  return_to_fast_path(*this);
}

ThreadState::~ThreadState() {
  const std::lock_guard lock(mutex);
  finish_timeline(*this);
  release_stream(*this);
  munmap(own_operations, kTableBytes);
}

void call_to_slow_path(ThreadState& thread) noexcept {
  thread.operations.store(no_operations);
  thread.uncaught.store(&kNotCounted);
}

void return_to_fast_path(ThreadState& thread) noexcept {
  const bool is_there =
      thread.operations.load(std::memory_order_relaxed) == thread.own_operations &&
      thread.uncaught.load(std::memory_order_relaxed) == thread.own_uncaught;
  if (is_there) return;
  thread.operations.store(thread.own_operations);
  thread.uncaught.store(thread.own_uncaught);
}

}  // namespace fathom::detail
