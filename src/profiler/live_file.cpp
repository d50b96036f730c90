#include "profiler/live_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "profiler/write_signals.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace fathom::detail {
namespace {

// Memory behind these addresses, or false: where a store would end in SIGBUS, or the kernel is too
// old to say (before 5.14).
bool populate(void* at, std::size_t bytes) {
  return madvise(at, bytes, MADV_POPULATE_WRITE) == 0;
}

// Aligned as blocks are.
std::byte* map_live(int fd) {
  void* const room = mmap(nullptr, kLiveBytes + kBlockBytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(room);
  const std::size_t before = (kBlockBytes - address % kBlockBytes) % kBlockBytes;
  auto* const begin = static_cast<std::byte*>(room) + before;
  if (before > 0) munmap(room, before);
  munmap(begin + kLiveBytes, kBlockBytes - before);
  // Not to be read or written until it is unlocked: a program that keeps all its memory in place
  // (mlockall) would otherwise be given every page of it now.
  if (mmap(begin, kLiveBytes, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
      munlock(begin, kLiveBytes) != 0 || mprotect(begin, kLiveBytes, PROT_READ | PROT_WRITE) != 0 ||
      !populate(begin, sizeof(LiveHeader))) {
    munmap(begin, kLiveBytes);
    return nullptr;
  }
  return begin;
}

// A program that was given so much address space and no more has none to spare.
bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

std::byte* make_live(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return nullptr;
  WriteSignals signals;
  signals.failed = ftruncate(fd, kLiveBytes) != 0;
  std::byte* const begin = signals.failed ? nullptr : map_live(fd);
  close(fd);
  if (begin == nullptr) unlink(path.c_str());
  return begin;
}

}  // namespace

LivePieces::LivePieces(std::byte* begin, std::size_t bytes, std::size_t count)
    : begin_(begin), bytes_(bytes), count_(count) {
  free_.reserve(count);
  for (std::size_t i = count; i-- > 0;) empty_.push_back(begin + i * bytes);
}

void* LivePieces::take() noexcept {
  if (free_.empty()) {
    if (empty_.empty() || !populate(empty_.back(), bytes_)) return nullptr;
    free_.push_back(empty_.back());
    empty_.pop_back();
  }
  void* const piece = free_.back();
  free_.pop_back();
  return piece;
}

bool LivePieces::give_back(void* piece, bool keeps_memory) noexcept {
  if (!holds(piece)) return false;
  // There is room for all in both.
  if (keeps_memory || madvise(piece, bytes_, MADV_REMOVE) != 0) {
    free_.push_back(piece);
  } else {
    empty_.push_back(piece);
  }
  return true;
}

LiveFile::LiveFile(std::string path, std::byte* begin)
    : path_(std::move(path)),
      begin_(begin),
      activities_(begin + kLiveActivitiesAt, sizeof(ActivityBlock), kLiveActivityBlocks),
      blocks_(begin + kLiveBlocksAt, kBlockBytes, kLiveBlocks) {}

LiveFile* LiveFile::create(const std::string& run_file, std::int64_t start_ns,
                           std::uint64_t process_track) noexcept {
  try {
    const char* const folder = std::getenv(kLiveFolderVariable);
    if (folder == nullptr || *folder == '\0' || address_space_is_limited()) return nullptr;
    if (run_file.find('/') == std::string::npos) return nullptr;
    const std::string path = folder + run_file.substr(run_file.rfind('/'));
    std::byte* const begin = make_live(path);
    if (begin == nullptr) return nullptr;
    auto* const header = new (begin) LiveHeader;
    header->pid = getpid();
    header->start_ns = start_ns;
    header->process_track = process_track;
    header->process_start = process_start_clocks();
    return new LiveFile(path, begin);
  } catch (...) {
    return nullptr;
  }
}

void LiveFile::add_name(std::uint32_t id, std::string_view text) noexcept {
  constexpr std::size_t kMostName = 4096;
  constexpr std::size_t kStep = 65536;
  text = text.substr(0, kMostName);
  const std::uint32_t used = header().names_used.load(std::memory_order_relaxed);
  const std::size_t bytes = (2 * sizeof(std::uint32_t) + text.size() + 7) / 8 * 8;
  if (used + bytes > kLiveNameBytes) return;
  while (used + bytes > names_mapped_) {
    if (!populate(begin_ + kLiveNamesAt + names_mapped_, kStep)) return;
    names_mapped_ += kStep;
  }
  std::byte* const at = begin_ + kLiveNamesAt + used;
  const std::uint32_t head[2] = {id, static_cast<std::uint32_t>(text.size())};
  std::memcpy(at, head, sizeof head);
  std::memcpy(at + sizeof head, text.data(), text.size());
  header().names_used.store(static_cast<std::uint32_t>(used + bytes), std::memory_order_release);
}

void LiveFile::publish(std::uint64_t pass, const LivePass& state) noexcept {
  header().passes[pass % 2] = state;
  header().pass.store(pass, std::memory_order_release);
  header().magic.store(kLiveMagic, std::memory_order_release);
}

void LiveFile::finish() noexcept {
  header().is_over.store(1, std::memory_order_release);
  unlink(path_.c_str());
}

void LiveFile::let_go_in_child() noexcept {
  mmap(begin_, kLiveBytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace fathom::detail
