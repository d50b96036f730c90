#include "trace/read/chrome/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/format.h"
#include "base/json_text.h"

namespace fathom::trace {
namespace {

// Small enough to stay in the cache between unpacking, finding the structure and walking it.
constexpr std::size_t kBlockBytes = 256 * 1024;

// No event is longer. A long event takes at most ten times its size: its block is up to a quarter
// larger, takes four bytes per byte for simdjson's list of offsets, and malloc may keep what the
// block was before it grew. Blocks that are not usual are read one at a time, so this is what
// gigabytes of spaces, of strings or of brackets can cost, however small they were packed.
constexpr std::size_t kMaxBlockBytes = 128U << 20;

// Bounds on the search, so that no text makes it slow.
constexpr std::size_t kMaxSpaces = 64;
constexpr std::size_t kMaxLook = 64 * 1024;
constexpr int kMaxCandidates = 16;

// True if text[at], a {, follows the end of another object and a comma, and has a key.
bool may_begin_event(std::string_view text, std::size_t at, bool is_lines) {
  std::size_t next = at + 1;
  while (next < text.size() && next - at < kMaxSpaces && base::is_json_space(text[next])) ++next;
  if (next >= text.size() || text[next] != '"') return false;
  const std::size_t lowest = at > kMaxSpaces ? at - kMaxSpaces : 0;
  std::size_t before = at;
  const auto skip_spaces_back = [&] {
    while (before > lowest && base::is_json_space(text[before - 1])) --before;
  };
  skip_spaces_back();
  const bool has_comma = before > lowest && text[before - 1] == ',';
  if (!has_comma && !is_lines) return false;
  if (has_comma) {
    --before;
    skip_spaces_back();
  }
  return before > lowest && text[before - 1] == '}';
}

// True if the object at text[at] ends in `text` and has a key "ph" of its own.
bool is_whole_event(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.size(), at + kMaxLook);
  int depth = 0;
  bool has_phase = false;
  for (std::size_t i = at; i < end; ++i) {
    const char c = text[i];
    if (c == '"') {
      has_phase |= depth == 1 && text.substr(i, 4) == "\"ph\"";
      for (++i; i < end && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return has_phase;
    }
  }
  return false;
}

// The next size to try for a block in which no event ends. Large ones grow slowly: what is read
// beyond the end of a long event is paid for as the event is.
std::size_t larger(std::size_t capacity) {
  return capacity < kUsualBlockBytes ? capacity * 2 : capacity + capacity / 4;
}

}  // namespace

std::size_t guess_last_event(std::string_view text, bool is_lines) {
  std::size_t likely = 0;
  std::size_t at = text.size();
  for (int tried = 0; tried < kMaxCandidates && at > 0;) {
    at = text.rfind('{', at - 1);
    if (at == std::string_view::npos || at == 0) break;
    if (!may_begin_event(text, at, is_lines)) continue;
    if (is_whole_event(text, at)) return at;
    if (likely == 0) likely = at;
    ++tried;
  }
  return likely;
}

void BlockSource::reserve(Block& block, std::size_t capacity) {
  if (block.capacity >= capacity) return;
  if (capacity > kUsualBlockBytes && !block.turn.owns_lock()) block.turn = std::unique_lock(turn_);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity + kPadding);
  if (block.size > 0) std::memcpy(larger.get(), block.buffer.get(), block.size);
  block.buffer = std::move(larger);
  block.capacity = capacity;
}

bool BlockSource::next(Block& block) {
  if (!block.is_usual()) block = {};  // before anything is locked: others may wait for its turn
  const std::lock_guard lock(mutex_);
  if (is_over_) return false;
  const std::uint64_t stored_before = stream_.stored_position();
  block.size = 0;
  reserve(block, std::max(kBlockBytes, larger(carry_.size())));
  std::memcpy(block.buffer.get(), carry_.data(), carry_.size());
  block.size = carry_.size();
  block.begin = offset_;
  block.index = index_++;
  while (true) {
    const std::size_t room = block.capacity - block.size;
    const std::size_t got = stream_.read(block.buffer.get() + block.size, room);
    block.size += got;
    block.is_last = got < room;
    if (block.is_last) break;
    if (const std::size_t cut = guess_last_event(block.text(), is_lines_); cut > 0) {
      carry_.assign(block.text().substr(cut));
      block.size = cut;
      break;
    }
    if (block.capacity >= kMaxBlockBytes) {
      throw base::Error(
          name_, fmt::format("not readable: {} from byte {} on without an event",
                             base::format_bytes(kMaxBlockBytes), base::format_count(block.begin)));
    }
    reserve(block, std::min(larger(block.capacity), kMaxBlockBytes));
  }
  is_over_ = block.is_last;
  offset_ += block.size;
  block.stored_size = stream_.stored_position() - stored_before;
  std::memset(block.buffer.get() + block.size, 0, kPadding);
  return true;
}

}  // namespace fathom::trace
