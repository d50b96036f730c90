#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "trace/read/unpack.h"

namespace fathom::trace {

// Room after the text of a block that scanners may read, but not rely on.
inline constexpr std::size_t kPadding = 64;

// No block is larger where events are of a usual size.
inline constexpr std::size_t kUsualBlockBytes = std::size_t{4} << 20;

// A piece of the content. All but the first begin at the { of an event, as far as can be told
// without having read everything before.
struct Block {
  std::uint64_t begin = 0;
  std::size_t index = 0;
  std::uint64_t stored_size = 0;  // how many stored bytes it took, for progress
  bool is_last = false;
  std::size_t size = 0;
  std::size_t capacity = 0;
  std::unique_ptr<char[]> buffer;  // capacity + kPadding
  // Of a block that is not usual: it is the only one until it is let go of, or asked for another.
  std::unique_lock<std::mutex> turn;

  bool is_usual() const { return capacity <= kUsualBlockBytes; }
  std::string_view text() const { return {buffer.get(), size}; }
};

// Cuts the content into blocks. Any thread may ask for the next; unpacking happens one block at a
// time while the others are being scanned.
class BlockSource {
 public:
  // `is_lines`: events follow each other without commas.
  BlockSource(const Input& input, bool is_lines)
      : name_(input.name()), stream_(input), is_lines_(is_lines) {}

  // Throws base::Error where no event ends within 128 MB.
  bool next(Block& block);

  // To be asked when the last block has been given.
  bool is_damaged() const { return stream_.is_damaged(); }
  std::uint64_t content_size() const { return offset_; }

 private:
  void reserve(Block& block, std::size_t capacity);

  const std::string name_;
  std::mutex mutex_;
  std::mutex turn_;  // of blocks that are not usual; taken after the other, held without it
  ContentStream stream_;
  const bool is_lines_;
  std::string carry_;  // read, but belongs to the next block
  std::uint64_t offset_ = 0;
  std::size_t index_ = 0;
  bool is_over_ = false;
};

// A guess where the last event that can be seen to begin in `text` does: the offset of its {, 0
// where there is none. It is verified later: the scanner has to arrive there between two events.
std::size_t guess_last_event(std::string_view text, bool is_lines);

}  // namespace fathom::trace
