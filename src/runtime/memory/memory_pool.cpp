#include "fathom/memory_pool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>

#include "base/format.h"
#include "fathom/profiler.h"
#include "runtime/memory/segments.h"

namespace fathom::runtime {

inline constexpr std::size_t kKeptSizes = 32;  // multiples of kBlockStep up to 16 KiB
inline constexpr std::size_t kKeptPerSize = 16;
inline constexpr std::size_t kThreadSlots = 16;

// Blocks that threads gave back and will want again. A thread always has the same slot; others may
// share it, so there is a lock, which is nearly always free.
struct ThreadSlot {
  alignas(64) std::mutex mutex;
  std::array<std::array<Chunk*, kKeptPerSize>, kKeptSizes> chunks;
  std::array<std::uint8_t, kKeptSizes> counts = {};
};

}  // namespace fathom::runtime

namespace fathom {
namespace {

using runtime::Chunk;
using runtime::kBlockStep;
using runtime::kKeptPerSize;
using runtime::kKeptSizes;
using runtime::kThreadSlots;
using runtime::ThreadSlot;

constexpr std::size_t kMostBytes = std::size_t{1} << 40;  // of a block: no memory has more
constexpr std::align_val_t kHostAlignment{kBlockStep};

std::size_t own_slot() {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t slot = next++ % kThreadSlots;
  return slot;
}

std::size_t kept_size(std::size_t bytes) {
  return bytes / kBlockStep - 1;
}

MemoryRecord reserved_on(std::int32_t device, std::size_t reserved) {
  MemoryRecord record;
  record.time_ns = now_ns();
  record.device = device;
  record.total_reserved = static_cast<std::int64_t>(reserved);
  return record;
}

void tell_profiler(const MemoryOrigin& origin, const Chunk& chunk, bool is_free,
                   std::size_t reserved) {
  if (!origin.profiler_device || origin.is_recorded) return;
  static const Name allocate_name("MemoryPool::allocate");
  thread_local const std::int64_t thread = gettid();
  const auto bytes = static_cast<std::int64_t>(chunk.bytes);
  profiler().record(MemoryRecord{.time_ns = now_ns(),
                                 .bytes = is_free ? -bytes : bytes,
                                 .device = *origin.profiler_device,
                                 .address = reinterpret_cast<std::uintptr_t>(&chunk),
                                 .scope = profiler().innermost_scope(),
                                 .name = allocate_name,
                                 .thread = thread,
                                 .is_handle = true,
                                 .total_reserved = static_cast<std::int64_t>(reserved)});
}

}  // namespace

double PoolStatistics::hit_rate() const {
  if (allocations == 0) return 0;
  return static_cast<double>(reused) / static_cast<double>(allocations);
}

double PoolStatistics::fragmentation() const {
  const std::size_t in_pieces = free_bytes - std::min(free_bytes, kept_bytes);
  if (in_pieces == 0) return 0;
  return 1 - static_cast<double>(largest_free_bytes) / static_cast<double>(in_pieces);
}

MemoryOrigin host_memory() {
  return {.name = "host",
          .allocate =
              [](std::size_t bytes) { return ::operator new(bytes, kHostAlignment, std::nothrow); },
          .release = [](void* segment) noexcept { ::operator delete(segment, kHostAlignment); },
          .profiler_device = std::nullopt};
}

struct MemoryPool::State {
  State(MemoryOrigin own_origin, const PoolOptions& options)
      : origin(std::move(own_origin)), segments(origin, options.most_bytes) {}

  Chunk* take_kept(std::size_t bytes);
  bool keep(Chunk* chunk);
  void drop_kept();  // all slots: so that neighbours merge
  Chunk* take(std::size_t bytes);
  Chunk* take_or_grow(std::size_t bytes);
  void count(const Chunk& chunk);
  void tell_reserved();  // where it is another than the profiler knows

  MemoryOrigin origin;
  std::array<ThreadSlot, kThreadSlots> slots;
  mutable std::mutex mutex;  // of the segments; taken after that of a slot, never before
  runtime::Segments segments;
  std::function<std::size_t(std::size_t)> clean_up;
  std::uint64_t clean_ups = 0;

  std::atomic<std::size_t> current = 0;
  std::atomic<std::size_t> peak = 0;
  std::atomic<std::uint64_t> total = 0;
  std::atomic<std::uint64_t> allocations = 0;
  std::atomic<std::uint64_t> frees = 0;
  std::atomic<std::size_t> kept = 0;     // bytes
  std::atomic<std::uint64_t> grown = 0;  // allocations that needed the origin
  std::atomic<std::size_t> told_reserved = 0;
};

Chunk* MemoryPool::State::take_kept(std::size_t bytes) {
  const std::size_t size = kept_size(bytes);
  if (size >= kKeptSizes) return nullptr;
  ThreadSlot& slot = slots[own_slot()];
  const std::lock_guard lock(slot.mutex);
  if (slot.counts[size] == 0) return nullptr;
  Chunk* const chunk = slot.chunks[size][--slot.counts[size]];
  kept -= chunk->bytes;
  chunk->take();
  return chunk;
}

bool MemoryPool::State::keep(Chunk* chunk) {
  const std::size_t size = kept_size(chunk->bytes);
  if (size >= kKeptSizes) return false;
  ThreadSlot& slot = slots[own_slot()];
  const std::lock_guard lock(slot.mutex);
  if (slot.counts[size] == kKeptPerSize) return false;
  slot.chunks[size][slot.counts[size]++] = chunk;
  kept += chunk->bytes;
  return true;
}

void MemoryPool::State::drop_kept() {
  for (ThreadSlot& slot : slots) {
    const std::lock_guard slot_lock(slot.mutex);
    const std::lock_guard lock(mutex);
    for (std::size_t size = 0; size < kKeptSizes; ++size) {
      while (slot.counts[size] > 0) {
        Chunk* const chunk = slot.chunks[size][--slot.counts[size]];
        kept -= chunk->bytes;
        segments.give_back(chunk);
      }
    }
  }
}

Chunk* MemoryPool::State::take_or_grow(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (Chunk* const chunk = segments.take(bytes)) return chunk;
  if (!segments.grow(bytes)) return nullptr;
  ++grown;
  return segments.take(bytes);
}

Chunk* MemoryPool::State::take(std::size_t bytes) {
  if (Chunk* const chunk = take_kept(bytes)) return chunk;
  if (Chunk* const chunk = take_or_grow(bytes)) return chunk;
  std::function<std::size_t(std::size_t)> own_clean_up;
  {
    const std::lock_guard lock(mutex);
    ++clean_ups;
    own_clean_up = clean_up;
  }
  for (const bool asks_others : {false, true}) {
    if (asks_others && (!own_clean_up || own_clean_up(bytes) == 0)) continue;
    drop_kept();
    {
      const std::lock_guard lock(mutex);
      if (Chunk* const chunk = segments.take(bytes)) return chunk;
      segments.trim(0);
    }
    if (Chunk* const chunk = take_or_grow(bytes)) return chunk;
  }
  return nullptr;
}

void MemoryPool::State::count(const Chunk& chunk) {
  ++allocations;
  total += chunk.bytes;
  const std::size_t now = current += chunk.bytes;
  std::size_t most = peak;
  while (most < now && !peak.compare_exchange_weak(most, now)) {
  }
  if (origin.is_recorded) return tell_reserved();
  const std::size_t reserved = segments.reserved();
  tell_profiler(origin, chunk, false, reserved);
  told_reserved = reserved;
}

void MemoryPool::State::tell_reserved() {
  if (!origin.profiler_device) return;
  const std::size_t reserved = segments.reserved();
  if (told_reserved.exchange(reserved) == reserved) return;
  profiler().record(reserved_on(*origin.profiler_device, reserved));
}

MemoryPool::MemoryPool(MemoryOrigin origin, const PoolOptions& options)
    : state_(std::make_unique<State>(std::move(origin), options)) {}
MemoryPool::~MemoryPool() = default;

std::optional<PoolBlock> MemoryPool::try_allocate(std::size_t bytes) {
  if (bytes > kMostBytes) return std::nullopt;
  Chunk* const chunk = state_->take(runtime::rounded(std::max<std::size_t>(bytes, 1), kBlockStep));
  if (chunk == nullptr) return std::nullopt;
  state_->count(*chunk);
  return PoolBlock{chunk->segment->origin, chunk->offset, chunk->bytes, chunk, chunk->use()};
}

PoolBlock MemoryPool::allocate(std::size_t bytes) {
  if (const auto block = try_allocate(bytes)) return *block;
  const PoolStatistics now = statistics();
  const auto text = [](std::size_t count) {
    return base::format_bytes(static_cast<double>(count));
  };
  throw OutOfMemory(fmt::format(
      "{}: out of memory: {} asked for; {} in use, {} free in pieces of up to {}. Free something, "
      "or use smaller batches",
      state_->origin.name, text(bytes), text(now.current_bytes), text(now.free_bytes),
      text(now.largest_free_bytes)));
}

void MemoryPool::free(const PoolBlock& block) {
  auto* const chunk = static_cast<Chunk*>(block.chunk);
  const bool is_own = chunk != nullptr && chunk->owner == &state_->segments;
  if (!is_own || !chunk->keep(block.use)) {
    throw std::invalid_argument(state_->origin.name + ": freed a block that is not used");
  }
  tell_profiler(state_->origin, *chunk, true, state_->segments.reserved());
  ++state_->frees;
  state_->current -= chunk->bytes;
  if (state_->keep(chunk)) return;
  const std::lock_guard lock(state_->mutex);
  state_->segments.give_back(chunk);
}

std::size_t MemoryPool::trim(std::size_t keep) {
  state_->drop_kept();
  std::size_t freed = 0;
  {
    const std::lock_guard lock(state_->mutex);
    freed = state_->segments.trim(keep);
  }
  state_->tell_reserved();
  return freed;
}

void MemoryPool::on_out_of_memory(std::function<std::size_t(std::size_t wanted)> clean_up) {
  const std::lock_guard lock(state_->mutex);
  state_->clean_up = std::move(clean_up);
}

PoolStatistics MemoryPool::statistics() const {
  const std::lock_guard lock(state_->mutex);
  PoolStatistics now;
  now.current_bytes = state_->current;
  now.peak_bytes = state_->peak;
  now.total_bytes = state_->total;
  now.allocations = state_->allocations;
  now.frees = state_->frees;
  now.reused = state_->allocations - std::min<std::uint64_t>(state_->allocations, state_->grown);
  now.reserved_bytes = state_->segments.reserved();
  now.peak_reserved_bytes = state_->segments.peak_reserved();
  now.segments = state_->segments.count();
  now.free_bytes = now.reserved_bytes - std::min(now.reserved_bytes, now.current_bytes);
  now.kept_bytes = state_->kept;
  now.largest_free_bytes = state_->segments.largest_free();
  now.clean_ups = state_->clean_ups;
  return now;
}

const std::string& MemoryPool::name() const {
  return state_->origin.name;
}

}  // namespace fathom
