#include "runtime/memory/segments.h"

#include <algorithm>
#include <tuple>

namespace fathom::runtime {
namespace {

constexpr std::size_t kSmallSegment = 2 << 20;
constexpr std::size_t kMiddleBlock = 10 << 20;
constexpr std::size_t kMiddleSegment = 20 << 20;
constexpr std::size_t kLargeStep = 2 << 20;

}  // namespace

// By size, then by place: low addresses fill up first, and high ones can be given back.
bool Segments::BySize::operator()(const Chunk* a, const Chunk* b) const {
  return std::tie(a->bytes, a->segment, a->offset) < std::tie(b->bytes, b->segment, b->offset);
}

Segments::~Segments() {
  for (const auto& segment : segments_) origin_.release(segment->origin);
}

Chunk* Segments::new_chunk(Segment* segment, std::size_t offset, std::size_t bytes) {
  if (spare_chunks_.empty()) {
    spare_chunks_.push_back(&chunks_.emplace_back());
    spare_chunks_.back()->owner = this;
  }
  Chunk* const chunk = spare_chunks_.back();
  spare_chunks_.pop_back();
  chunk->segment = segment;
  chunk->offset = offset;
  chunk->bytes = bytes;
  chunk->before = nullptr;
  chunk->after = nullptr;
  chunk->free();
  return chunk;
}

Chunk* Segments::take(std::size_t bytes) {
  ++takes_;
  FreeChunks& free = free_[bytes <= kSmallBlock ? 0 : 1];
  Chunk wanted;
  wanted.bytes = bytes;
  const auto found = free.lower_bound(&wanted);
  if (found == free.end()) return nullptr;
  Chunk* const chunk = *found;
  free.erase(found);
  // As PyTorch does: of a large block a rest that could only hold small ones stays with it, so that
  // it is whole again for the next of its size.
  const std::size_t least_rest = bytes <= kSmallBlock ? kBlockStep : kSmallBlock + kBlockStep;
  if (chunk->bytes >= bytes + least_rest) {
    Chunk* const rest = new_chunk(chunk->segment, chunk->offset + bytes, chunk->bytes - bytes);
    rest->before = chunk;
    rest->after = chunk->after;
    if (rest->after != nullptr) rest->after->before = rest;
    chunk->after = rest;
    chunk->bytes = bytes;
    free.insert(rest);
  }
  chunk->take();
  chunk->segment->last_used = takes_;
  return chunk;
}

bool Segments::add_segment(std::size_t bytes, bool is_small) {
  if (bytes > most_bytes_ - std::min(most_bytes_, reserved())) return false;
  void* const origin = origin_.allocate(bytes);
  if (origin == nullptr) return false;
  segments_.push_back(std::make_unique<Segment>());
  Segment* const segment = segments_.back().get();
  segment->origin = origin;
  segment->bytes = bytes;
  segment->is_small = is_small;
  segment->last_used = takes_;
  segment->first = new_chunk(segment, 0, bytes);
  free_of(segment->first).insert(segment->first);
  reserved_ += bytes;
  peak_reserved_ = std::max(peak_reserved_, reserved());
  return true;
}

bool Segments::grow(std::size_t bytes) {
  if (bytes <= kSmallBlock) return add_segment(kSmallSegment, true);
  const std::size_t exact = rounded(bytes, kLargeStep);
  if (bytes < kMiddleBlock && add_segment(kMiddleSegment, false)) return true;
  return add_segment(exact, false) || add_segment(bytes, false);
}

void Segments::give_back(Chunk* chunk) {
  chunk->free();
  if (Chunk* const after = chunk->after; after != nullptr && after->state() == Chunk::State::free) {
    free_of(after).erase(after);
    chunk->bytes += after->bytes;
    chunk->after = after->after;
    if (chunk->after != nullptr) chunk->after->before = chunk;
    forget(after);
  }
  if (Chunk* const before = chunk->before;
      before != nullptr && before->state() == Chunk::State::free) {
    free_of(before).erase(before);
    before->bytes += chunk->bytes;
    before->after = chunk->after;
    if (before->after != nullptr) before->after->before = before;
    forget(chunk);
    chunk = before;
  }
  free_of(chunk).insert(chunk);
}

std::size_t Segments::trim(std::size_t keep) {
  std::vector<Segment*> unused;
  for (const auto& segment : segments_) {
    const Chunk& first = *segment->first;
    if (first.state() == Chunk::State::free && first.bytes == segment->bytes) {
      unused.push_back(segment.get());
    }
  }
  std::ranges::sort(unused, {}, &Segment::last_used);
  std::size_t freed = 0;
  for (Segment* const segment : unused) {
    if (reserved_ <= keep) break;
    free_of(segment->first).erase(segment->first);
    forget(segment->first);
    origin_.release(segment->origin);
    reserved_ -= segment->bytes;
    freed += segment->bytes;
    std::erase_if(segments_, [&](const auto& own) { return own.get() == segment; });
  }
  return freed;
}

std::size_t Segments::largest_free() const {
  std::size_t largest = 0;
  for (const FreeChunks& free : free_) {
    if (!free.empty()) largest = std::max(largest, (*free.rbegin())->bytes);
  }
  return largest;
}

}  // namespace fathom::runtime
