#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fathom/detail/fixed_scope.h"
#include "profiler/blocks.h"
#include "profiler/operation_stats.h"
#include "profiler/operations.h"
#include "profiler/words.h"

namespace fathom::detail {

class Core;
struct FreeScope;

// What one profiler knows of one thread. The thread itself is the only one to change it; what
// others may look at is atomic or under the mutex.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what a scope touches comes first
struct ThreadState {
  ThreadState(Core& owner, std::uint32_t lane);
  ~ThreadState();
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

  // The first cache line is what an empty scope touches.
  std::uint64_t generation = kNoGeneration;  // scopes may begin the fast way while this is current
  std::atomic<Word*> cursor = nullptr;       // where the next word goes; there is always room
  OpenScope* open = nullptr;                 // innermost, or &root
  // By index; [0] is always null. And exceptions in flight on this thread. While another thread
  // has ended a scope of this one, they point elsewhere, so that scopes begin and end the slow way.
  std::atomic<OperationStats**> operations = nullptr;
  std::atomic<const unsigned*> uncaught = nullptr;

  static constexpr std::uint64_t kNoGeneration = UINT64_MAX;

  OpenScope root{};
  OperationStats** const own_operations;
  const unsigned* own_uncaught;
  Core* core = nullptr;
  std::uint64_t seen = kNoGeneration;  // the generation that was last taken notice of
  unsigned skipped = 0;                // open scopes inside one that sampling left out
  std::uint64_t random = 0;
  std::unordered_map<std::string, OperationId> names;
  std::unordered_map<OperationId, OperationStats*> wide_operations;
  std::vector<std::shared_ptr<FreeScope>> free_scopes;  // those open
  std::atomic<unsigned> abandoned = 0;                  // of them, ended by other threads

  const std::int64_t tid;
  const std::uint32_t number;  // counts up from 0 within the profiler
  const std::uint32_t lane;    // 0, or which of the thread's others this is (fathom/detail/lanes.h)
  const std::string name;
  const std::int64_t track_tid;     // in files: there each lane is a thread
  std::vector<ThreadState*> lanes;  // of lane 0: the others, by their number; [0] is null
  const pthread_t pthread = pthread_self();

  std::atomic<bool> finished = false;  // the thread is gone

  std::mutex mutex;         // of what follows
  std::uint64_t epoch = 0;  // the reset that the statistics came after
  std::vector<std::pair<OperationId, std::unique_ptr<OperationStats>>> all_operations;
  Block* block = nullptr;                // where the cursor is
  const std::unique_ptr<Block> scratch;  // written over and over where nobody wants the words
  std::vector<Block*> kept;
  bool streaming = false;   // as far as the thread has noticed
  Block* stream = nullptr;  // head of the chain: the writer is here
  Block* stream_tail = nullptr;
  std::uint64_t streamed_blocks = 0;  // so far
  std::uint64_t dropped = 0;          // scopes that a recording should have had
};

// Of the global profiler; null until the thread's first scope. One pointer is all the TLS there is:
// a library that is loaded late has no room for more.
extern constinit thread_local ThreadState* current_thread [[gnu::tls_model("initial-exec")]];

// What use_lane() said last.
extern constinit thread_local std::uint32_t current_lane;

// For another thread: that this one leave its fast path, at its next scope's begin or end.
void call_to_slow_path(ThreadState& thread) noexcept;
// For the thread itself, which has heard it.
void return_to_fast_path(ThreadState& thread) noexcept;

// The thread's words. All but push take the mutex.
void begin_timeline(ThreadState& thread, bool streaming) noexcept;
void next_block(ThreadState& thread) noexcept;
void push_annotations(ThreadState& thread, std::string_view annotations) noexcept;
void push_ended(ThreadState& thread, const EndedElsewhere& scope) noexcept;

// True where the block is full: then next_block has to follow.
inline bool put(ThreadState& thread, Word word) noexcept {
  Word* at = thread.cursor.load(std::memory_order_relaxed);
  *at++ = word;
  thread.cursor.store(at, std::memory_order_release);
  return is_full(at);
}

inline void push(ThreadState& thread, Word word) noexcept {
  if (put(thread, word)) [[unlikely]]
    next_block(thread);
}

// Says that the words up to here are whole, where their times alone do not show it: those that do
// not just begin or end a scope now. For whoever reads them after the process is gone.
inline void settle(ThreadState& thread) noexcept {
  Block* const block = thread.block;
  if (block == nullptr) return;
  block->settled.store(block->index_of(thread.cursor.load(std::memory_order_relaxed)),
                       std::memory_order_release);
}

// Called with the mutex held.
void forget_timeline(ThreadState& thread) noexcept;  // after a reset
std::vector<Word> kept_words(const ThreadState& thread);
void finish_timeline(ThreadState& thread) noexcept;                 // when the thread ends
void release_streamed(ThreadState& thread, Block* block) noexcept;  // the writer is done with it
void release_stream(ThreadState& thread) noexcept;                  // with all of them
// In a forked child: the words were the parent's, and their blocks may be gone.
void forget_in_child(ThreadState& thread) noexcept;

}  // namespace fathom::detail
