// Where a thread's words go: into blocks that are kept for entries(), into a chain of blocks that
// the writer follows, or, where nobody wants them, over and over into the same scratch block.
#include <algorithm>
#include <cstring>

#include "profiler/clock.h"
#include "profiler/core.h"
#include "profiler/thread_state.h"

namespace fathom::detail {
namespace {

// Open scopes that are stated again where words begin after a gap: the innermost ones, so that
// ends still find their begins. Those of a deeper stack end unseen.
constexpr std::size_t kMaxRestated = 1000;

void append_word(Word*& at, Word word) {
  *at++ = word;
}

Word* state_open_scopes(const ThreadState& thread, Word* at) noexcept {
  std::size_t stated = 0;
  for (const OpenScope* scope = thread.open; scope != &thread.root && stated < kMaxRestated;
       scope = scope->parent) {
    ++stated;
  }
  append_word(at, escape_word(Escape::restart));
  Word* const end = at + 2 * stated;
  Word* place = end;
  const OpenScope* scope = thread.open;
  for (std::size_t i = 0; i < stated; ++i, scope = scope->parent) {
    *--place = begin_word(scope->start, kWide);
    *--place = escape_word(Escape::operation, scope->operation);
  }
  return end;
}

// Moves the cursor to the beginning of a block. A gap lies before it unless it `follows` the last.
void start_block(ThreadState& thread, Block* block, bool follows) noexcept {
  Word* at = block->words;
  block->start = ticks();
  append_word(at, escape_word(Escape::time, block->start >> 48));
  if (!follows) at = state_open_scopes(thread, at);
  thread.block = block;
  thread.cursor.store(at, std::memory_order_release);
  settle(thread);
}

struct WordCount {
  std::int64_t begins = 0;
  std::int64_t ends = 0;
};

WordCount count_words(const Word* at, const Word* end) {
  WordCount count;
  for (; at < end; ++at) {
    if (tag_of(*at) == kEnd) {
      ++count.ends;
    } else if (tag_of(*at) != kEscape) {
      ++count.begins;
    } else if (escape_of(*at) == Escape::annotations) {
      at += (value_of(*at) + sizeof(Word) - 1) / sizeof(Word);
    } else if (escape_of(*at) == Escape::ended) {
      at += EndedElsewhere::kWords;
    }
  }
  return count;
}

// No more words into the block where the cursor is.
void leave_block(ThreadState& thread) noexcept {
  Block* const block = thread.block;
  if (block == nullptr) return;
  Word* const cursor = thread.cursor.load(std::memory_order_relaxed);
  if (block == thread.scratch.get()) {
    if (thread.streaming) {
      thread.dropped += static_cast<std::uint64_t>(count_words(block->words, cursor).begins);
    }
    return;
  }
  if (block->kept) {
    thread.core->count_kept_scopes(count_words(block->words, cursor).ends);
  }
  const bool unwanted = !block->kept && !block->streamed;
  block->end.store(cursor, std::memory_order_release);
  if (unwanted) thread.core->pool.give_back(block);
  thread.block = nullptr;
}

// A fresh block for whoever wants the words; null where nobody does or there is no room.
Block* wanted_block(ThreadState& thread) noexcept {
  Core& core = *thread.core;
  const bool keep = core.keeps_more();
  const bool stream = thread.streaming && core.recording();
  if (!keep && !stream) return nullptr;
  Block* const block = core.pool.take(stream);
  try {
    if (block != nullptr && keep) thread.kept.push_back(block);
  } catch (...) {
    core.pool.give_back(block);
    return nullptr;
  }
  if (block == nullptr) return nullptr;
  block->kept = keep;
  block->streamed = stream;
  if (stream) {
    if (thread.stream_tail != nullptr) {
      thread.stream_tail->next.store(block, std::memory_order_release);
    } else {
      thread.stream = block;
    }
    thread.stream_tail = block;
    block->tid = thread.track_tid;
    block->place = thread.streamed_blocks++;
    thread.name.copy(block->name, sizeof block->name - 1);
    block->thread.store(thread.number + 1, std::memory_order_release);
    core.count_pending_block();
  }
  return block;
}

// Moves the cursor into a block that somebody wants, or into the scratch block.
void enter_block(ThreadState& thread, bool follows) noexcept {
  if (Block* const block = wanted_block(thread)) {
    start_block(thread, block, follows);
  } else {
    start_block(thread, thread.scratch.get(), true);
  }
}

// For words that are published together, and one more.
Word* room_for(ThreadState& thread, std::size_t words) noexcept {
  const Word* const at = thread.cursor.load(std::memory_order_relaxed);
  if (static_cast<std::size_t>(thread.block->words + Block::kWords - at) <= words) {
    next_block(thread);
  }
  return thread.cursor.load(std::memory_order_relaxed);
}

}  // namespace

void begin_timeline(ThreadState& thread, bool streaming) noexcept {
  const std::lock_guard lock(thread.mutex);
  leave_block(thread);
  thread.streaming = streaming;
  enter_block(thread, false);
}

void next_block(ThreadState& thread) noexcept {
  const std::lock_guard lock(thread.mutex);
  const bool was_scratch = thread.block == thread.scratch.get();
  leave_block(thread);
  enter_block(thread, !was_scratch);
}

void push_annotations(ThreadState& thread, std::string_view annotations) noexcept {
  constexpr std::size_t kMostWords = Block::kWords / 2;
  const std::size_t words = (annotations.size() + sizeof(Word) - 1) / sizeof(Word);
  if (words == 0 || words > kMostWords) return;
  Word* at = room_for(thread, words + 1);
  append_word(at, escape_word(Escape::annotations, annotations.size()));
  at[words - 1] = 0;
  std::memcpy(at, annotations.data(), annotations.size());
  thread.cursor.store(at + words, std::memory_order_release);
  settle(thread);
}

void push_ended(ThreadState& thread, const EndedElsewhere& scope) noexcept {
  Word* at = room_for(thread, 1 + EndedElsewhere::kWords);
  append_word(at, escape_word(Escape::ended, scope.thread));
  append_word(at, scope.operation);
  append_word(at, scope.start);
  append_word(at, scope.end);
  thread.cursor.store(at, std::memory_order_release);
  settle(thread);
}

void forget_timeline(ThreadState& thread) noexcept {
  for (Block* block : thread.kept) {
    block->kept = false;
    // The writer, or the thread when it leaves the block, gives back what is still in use.
    if (!block->streamed && block != thread.block) thread.core->pool.give_back(block);
  }
  thread.kept.clear();
  thread.dropped = 0;
}

std::vector<Word> kept_words(const ThreadState& thread) {
  std::vector<Word> words;
  for (const Block* block : thread.kept) {
    const Word* end = block->end.load(std::memory_order_acquire);
    if (end == nullptr) end = thread.cursor.load(std::memory_order_acquire);
    if (block->holds(end)) words.insert(words.end(), block->words, end);
  }
  return words;
}

void release_streamed(ThreadState& thread, Block* block) noexcept {
  block->streamed = false;
  block->thread.store(0, std::memory_order_relaxed);
  // The thread gives back the block it is in, when it leaves it.
  if (!block->kept && block != thread.block) thread.core->pool.give_back(block);
  thread.core->release_pending_block();
}

void release_stream(ThreadState& thread) noexcept {
  for (Block* block = thread.stream; block != nullptr;) {
    Block* const next = block->next.load(std::memory_order_relaxed);
    release_streamed(thread, block);
    block = next;
  }
  thread.stream = nullptr;
  thread.stream_tail = nullptr;
}

void forget_in_child(ThreadState& thread) noexcept {
  thread.kept.clear();
  thread.stream = nullptr;
  thread.stream_tail = nullptr;
  thread.streamed_blocks = 0;
  thread.streaming = false;
  thread.block = nullptr;
  start_block(thread, thread.scratch.get(), true);
}

void finish_timeline(ThreadState& thread) noexcept {
  leave_block(thread);
  forget_timeline(thread);
}

}  // namespace fathom::detail
