#pragma once

#include <cstddef>
#include <cstdint>

#include "profiler/operations.h"

namespace fathom::detail {

// The timeline of a thread is a stream of 8-byte words in the order things happened; a scope takes
// two. The low 16 bits say what a word is:
//   0          a scope ends (the innermost open one)
//   1..kMaxIndex  a scope of this operation begins
//   kWide      a scope begins whose operation is in the escape word before it
//   kEscape    says something about the next begin or end
// and the high 48 bits of a begin or end are the low 48 bits of its time in ticks.
using Word = std::uint64_t;

inline constexpr Word kEnd = 0;
inline constexpr Word kWide = 0xFFFE;
inline constexpr Word kEscape = 0xFFFF;
inline constexpr OperationId kMaxIndex = 0xFFFD;

// What an escape word says; its value has 40 bits.
enum class Escape : std::uint8_t {
  operation,    // the next begin is of this operation
  annotations,  // so many bytes of debug annotations follow, padded to whole words
  failed,       // the next end is by exception
  instance,     // the next end is of the scope that GPU work knows by this number
  time,         // the high 16 bits of the times that follow
  restart,      // words are missing before this; the scopes open here begin again
  ended,        // this thread has ended a scope of another, which is in the three words that follow
};

// A scope that another thread than its own has ended. Its own thread closes it when it next begins
// or ends one; where it never does, this is how the end is known.
struct EndedElsewhere {
  static constexpr std::size_t kWords = 3;  // after the escape, whose value is the thread

  std::uint32_t thread = 0;  // its number in the profiler
  OperationId operation = 0;
  std::uint64_t start = 0;  // ticks
  std::uint64_t end = 0;
};

constexpr Word begin_word(std::uint64_t ticks, Word index) {
  return ticks << 16 | index;
}
constexpr Word end_word(std::uint64_t ticks) {
  return ticks << 16 | kEnd;
}
constexpr Word escape_word(Escape kind, std::uint64_t value = 0) {
  return value << 24 | static_cast<Word>(kind) << 16 | kEscape;
}

constexpr Word tag_of(Word word) {
  return word & 0xFFFF;
}
constexpr Escape escape_of(Word word) {
  return static_cast<Escape>(word >> 16 & 0xFF);
}
constexpr std::uint64_t value_of(Word word) {
  return word >> 24;
}

// The times of a stream of words: 48 bits each, and never going back.
class WordTime {
 public:
  WordTime() = default;
  explicit WordTime(std::uint64_t last) : last_(last) {}

  std::uint64_t last() const { return last_; }
  void set_high(std::uint64_t high) { last_ = high << 48; }
  std::uint64_t ticks(Word word) {
    std::uint64_t ticks = (last_ >> 48 << 48) | word >> 16;
    // A little before the last one is a restated begin or another CPU's clock; far before it, 48
    // bits have run over.
    if (ticks + (std::uint64_t{1} << 47) < last_) ticks += std::uint64_t{1} << 48;
    last_ = ticks > last_ ? ticks : last_;
    return ticks;
  }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace fathom::detail
