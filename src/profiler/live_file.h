#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/activity_words.h"
#include "profiler/blocks.h"
#include "profiler/clock.h"

namespace fathom::detail {

// What a process has recorded and not yet written to its run file, in memory that outlives it: a
// file in a memory file system that threads write into as they write into any memory. Whatever ends
// the process, `fathom profile` finds the file and adds what it holds to the run (leftovers.cpp).
//
// A page is asked for before it is used, so that a full file system is an answer and not SIGBUS.
// No descriptor stays open: the program may close it, and use its number.
inline constexpr const char* kLiveFolderVariable = "FATHOM_LIVE_FOLDER";
inline constexpr std::uint64_t kLiveMagic = 0x32'65'76'69'4C'68'74'46;  // and its layout's version
inline constexpr std::size_t kLiveHeaderBytes = 65536;
inline constexpr std::size_t kLiveNameBytes = std::size_t{4} << 20;
inline constexpr std::size_t kLiveActivityBlocks = 128;
inline constexpr std::size_t kLiveBlocks = 1024;
inline constexpr std::size_t kLiveNamesAt = kLiveHeaderBytes;
inline constexpr std::size_t kLiveActivitiesAt = kLiveNamesAt + kLiveNameBytes;
inline constexpr std::size_t kLiveBlocksAt =
    kLiveActivitiesAt + kLiveActivityBlocks * sizeof(ActivityBlock);
inline constexpr std::size_t kLiveBytes = kLiveBlocksAt + kLiveBlocks * kBlockBytes;

struct LiveMemory {
  std::int64_t device = 0;
  std::int64_t in_use = 0;
};

// The state of the run file after a pass of the writer.
struct LivePass {
  std::int64_t file_bytes = 0;        // of which all are whole packets
  std::uint64_t activity_block = 0;   // the last that is in the file
  std::int64_t last_activity_ns = 0;  // when the last activity in the file ended
  ClockPoint clock_from;              // the clock of scopes: a point and a rate
  std::int64_t clock_rate = 0;        // 0 where it has none yet
  std::uint32_t memories = 0;
  LiveMemory memory[32] = {};
};

struct LiveHeader {
  std::atomic<std::uint64_t> magic = 0;       // set once all else is
  std::atomic<std::uint64_t> pass = 0;        // the last that is complete: passes[pass % 2]
  std::atomic<std::uint32_t> names_used = 0;  // bytes
  std::atomic<std::uint32_t> is_over = 0;     // the run file has everything
  std::int64_t pid = 0;
  std::int64_t start_ns = 0;
  std::uint64_t process_track = 0;
  ClockPoint process_start;
  LivePass passes[2];
};
static_assert(sizeof(LiveHeader) <= kLiveHeaderBytes);

// Pieces of one size, of which only those in use take memory. One thread at a time.
class LivePieces {
 public:
  LivePieces(std::byte* begin, std::size_t bytes, std::size_t count);

  void* take() noexcept;  // null where there is no more
  // False where it is none of these. Its memory is kept for the next, or given back to the system.
  bool give_back(void* piece, bool keeps_memory) noexcept;
  bool holds(const void* piece) const {
    return piece >= begin_ && piece < begin_ + bytes_ * count_;
  }

 private:
  std::byte* const begin_;
  const std::size_t bytes_;
  const std::size_t count_;
  std::vector<void*> free_;   // that have memory
  std::vector<void*> empty_;  // that have none
};

class LiveFile {
 public:
  // Under the run file's name in the folder that the environment has for it; null where it has
  // none, or there is no room.
  static LiveFile* create(const std::string& run_file, std::int64_t start_ns,
                          std::uint64_t process_track) noexcept;

  LiveHeader& header() { return *reinterpret_cast<LiveHeader*>(begin_); }
  LivePieces& blocks() { return blocks_; }
  LivePieces& activities() { return activities_; }
  void add_name(std::uint32_t id, std::string_view text) noexcept;

  // After a pass, once all of it is in the run file.
  void publish(std::uint64_t pass, const LivePass& state) noexcept;
  void finish() noexcept;  // the run file has everything; the memory stays, its name does not

  // In a forked child: the same addresses, and memory of its own there, all zero.
  void let_go_in_child() noexcept;

 private:
  LiveFile(std::string path, std::byte* begin);

  const std::string path_;
  std::byte* const begin_;
  std::size_t names_mapped_ = 0;
  LivePieces activities_;
  LivePieces blocks_;
};

}  // namespace fathom::detail
