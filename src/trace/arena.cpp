#include "trace/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace fathom::trace {
namespace {

constexpr std::size_t kLargePage = 2U << 20;
constexpr std::size_t kChunkBytes = 4 * kLargePage;

std::size_t round_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

}  // namespace

Arena::~Arena() {
  for (const Chunk& chunk : chunks_) ::munmap(chunk.at, chunk.size);
}

void* Arena::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t size = round_up(bytes, std::max(alignment, alignof(std::max_align_t)));
  if (size > room_) {
    // One page more than is used, so that what is used can begin at a large page.
    const std::size_t use = std::max(kChunkBytes, round_up(size, kLargePage));
    void* const mapped = ::mmap(nullptr, use + kLargePage, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    chunks_.push_back({mapped, use + kLargePage});
    const auto address = reinterpret_cast<std::uintptr_t>(mapped);
    free_ = static_cast<char*>(mapped) + (round_up(address, kLargePage) - address);
    room_ = use;
    ::madvise(free_, use, MADV_HUGEPAGE);
  }
  void* const result = free_;
  free_ += size;
  room_ -= size;
  return result;
}

void prefer_large_pages(void* at, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t begin = round_up(address, kLargePage);
  const std::uintptr_t end = (address + bytes) / kLargePage * kLargePage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace fathom::trace
