#include "trace/read/sqlite_wal.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fathom::trace {
namespace {

// https://www.sqlite.org/fileformat2.html#walformat
constexpr std::size_t kWalHeader = 32;
constexpr std::size_t kFrameHeader = 24;
constexpr std::uint32_t kMagic = 0x377F0682;  // the lowest bit: checksums read big-endian words

std::uint32_t word(std::string_view bytes, bool is_big_endian = true) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[is_big_endian ? i : 3 - i]);
  }
  return value;
}

struct Checksum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  void add(std::string_view bytes, bool is_big_endian) {
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      first += word(bytes, is_big_endian) + second;
      second += word(bytes.substr(4), is_big_endian) + first;
    }
  }
  bool is(std::string_view said) const {
    return word(said) == first && word(said.substr(4)) == second;
  }
};

struct Frame {
  std::uint32_t page = 0;  // from 1
  std::string_view bytes;
};

struct Log {
  std::size_t page_size = 0;
  std::vector<Frame> frames;  // up to the last commit
  std::uint64_t pages = 0;    // of the database after it
};

Log committed(std::string_view wal) {
  Log log;
  if (wal.size() < kWalHeader || (word(wal) & ~1U) != kMagic) return log;
  const bool is_big_endian = (word(wal) & 1U) != 0;
  log.page_size = word(wal.substr(8));
  const std::string_view salts = wal.substr(16, 8);
  Checksum sum;
  sum.add(wal.substr(0, 24), is_big_endian);
  const bool is_page_size =
      log.page_size >= 512 && log.page_size <= 65536 && (log.page_size & (log.page_size - 1)) == 0;
  if (!is_page_size || !sum.is(wal.substr(24))) return log;
  std::vector<Frame>& frames = log.frames;
  std::size_t frames_committed = 0;
  for (wal.remove_prefix(kWalHeader); wal.size() >= kFrameHeader + log.page_size;
       wal.remove_prefix(kFrameHeader + log.page_size)) {
    const Frame frame = {word(wal), wal.substr(kFrameHeader, log.page_size)};
    sum.add(wal.substr(0, 8), is_big_endian);
    sum.add(frame.bytes, is_big_endian);
    if (wal.substr(8, 8) != salts || !sum.is(wal.substr(16)) || frame.page == 0) break;
    frames.push_back(frame);
    const std::uint32_t pages_after_commit = word(wal.substr(4));
    if (pages_after_commit == 0) continue;
    frames_committed = frames.size();
    log.pages = pages_after_commit;
  }
  frames.resize(frames_committed);
  return log;
}

}  // namespace

std::string with_wal(std::string_view database, std::string_view wal) {
  std::string whole(database);
  const Log log = committed(wal);
  // No database has pages that neither it nor its log holds.
  const std::uint64_t most =
      database.size() / std::max<std::size_t>(log.page_size, 1) + log.frames.size();
  if (log.frames.empty() || log.pages > most) return whole;
  whole.resize(log.pages * log.page_size);
  for (const Frame& frame : log.frames) {
    if (frame.page > log.pages) continue;  // cut away by a later commit
    whole.replace((frame.page - 1) * log.page_size, log.page_size, frame.bytes);
  }
  return whole;
}

}  // namespace fathom::trace
