#include "trace/read/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace fathom::trace {
namespace {

struct Guarded {
  std::atomic<std::uintptr_t> begin = 0;  // 0: free
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> was_cut = false;
};

std::array<Guarded, 64> guarded_files;
std::mutex guard_mutex;
struct sigaction action_before;

Guarded* guarded_at(std::uintptr_t address) {
  for (Guarded& file : guarded_files) {
    const std::uintptr_t begin = file.begin.load(std::memory_order_acquire);
    if (begin != 0 && address >= begin && address < file.end.load(std::memory_order_relaxed)) {
      return &file;
    }
  }
  return nullptr;
}

// Only calls what a signal handler may call. A page of zeros takes the place of the one that is
// gone, and the instruction that asked for it goes on.
void put_zeros(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (Guarded* file = guarded_at(address)) {
    const auto page_size = static_cast<std::uintptr_t>(::getpagesize());
    auto* page = reinterpret_cast<void*>(address / page_size * page_size);
    const void* zeros =
        ::mmap(page, page_size, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    file->was_cut.store(true, std::memory_order_relaxed);
    if (zeros != MAP_FAILED) return;
  }
  if ((action_before.sa_flags & SA_SIGINFO) != 0) {
    action_before.sa_sigaction(signal, info, context);
  } else if (action_before.sa_handler != SIG_DFL && action_before.sa_handler != SIG_IGN) {
    action_before.sa_handler(signal);
  } else {
    ::sigaction(signal, &action_before, nullptr);  // it comes again, and is the system's then
  }
}

void install_once() {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = put_zeros;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &action_before) == 0;
  }();
  (void)installed;
}

}  // namespace

bool MappedFile::map(int file, std::size_t size) {
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (begin == MAP_FAILED) return false;
  begin_ = begin;
  size_ = size;
  const std::lock_guard lock(guard_mutex);
  install_once();
  for (std::size_t i = 0; i < guarded_files.size(); ++i) {
    if (guarded_files[i].begin != 0) continue;
    place_ = static_cast<int>(i);
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    guarded_files[i].was_cut = false;
    guarded_files[i].end = address + size;
    guarded_files[i].begin.store(address, std::memory_order_release);
    break;
  }
  return true;
}

MappedFile::~MappedFile() {
  if (begin_ == nullptr) return;
  const std::lock_guard lock(guard_mutex);
  if (place_ >= 0) guarded_files[static_cast<std::size_t>(place_)].begin = 0;
  ::munmap(begin_, size_);
}

bool MappedFile::was_cut() const {
  return place_ >= 0 &&
         guarded_files[static_cast<std::size_t>(place_)].was_cut.load(std::memory_order_relaxed);
}

}  // namespace fathom::trace
