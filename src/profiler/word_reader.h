#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "profiler/words.h"

namespace fathom::detail {

// What the escapes before a begin or an end said about it.
struct WordNotes {
  OperationId operation = 0;
  std::string annotations;
  std::uint64_t instance = 0;
  bool failed = false;
};

// Reads a thread's words, in as many pieces as they come. A piece may end between an escape and
// what it is about, but not within annotations: those are published whole.
//
// The handler has begin(operation, ticks, notes), end(ticks, notes), with notes null where nothing
// was said, and restart(): words are
// missing, and the scopes that are open now begin again, with the time that they really began.
// ended(EndedElsewhere): of another thread's scope.
// And plain(words, time), which may take any number of begins and ends off the front by itself.
class WordReader {
 public:
  WordReader() = default;
  explicit WordReader(WordTime time) : time_(time) {}

  WordTime time() const { return time_; }
  // Escapes at the end of what was read that say something about what comes next.
  std::size_t pending() const { return noted_ ? pending_ : 0; }

  template <typename Handler>
  void read(std::span<const Word> words, Handler&& handler) {
    read_all(words, handler);
    pending_ = noted_ ? pending_ + words.size() - first_note_ : 0;
    first_note_ = 0;
  }

 private:
  template <typename Handler>
  void read_all(std::span<const Word> words, Handler&& handler) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!noted_) i += handler.plain(words.subspan(i), time_);
      if (i == words.size()) return;
      const Word word = words[i];
      const Word tag = tag_of(word);
      if (tag == kEscape) {
        if (!noted_) {
          first_note_ = i;
          pending_ = 0;
        }
        i += escape(word, words.subspan(i + 1), handler);
      } else if (tag == kEnd) {
        handler.end(time_.ticks(word), notes());
        forget_notes();
      } else {
        const auto operation = tag == kWide ? notes_.operation : static_cast<OperationId>(tag);
        handler.begin(operation, time_.ticks(word), notes());
        forget_notes();
      }
    }
  }

  const WordNotes* notes() const { return noted_ ? &notes_ : nullptr; }
  void forget_notes() {
    if (noted_) notes_ = {};
    noted_ = false;
  }

  // How many of the words that follow belong to the escape.
  template <typename Handler>
  std::size_t escape(Word word, std::span<const Word> rest, Handler&& handler) {
    if (escape_of(word) == Escape::ended) {
      if (rest.size() < EndedElsewhere::kWords) return rest.size();
      handler.ended(EndedElsewhere{static_cast<std::uint32_t>(value_of(word)),
                                   static_cast<OperationId>(rest[0]), rest[1], rest[2]});
      return EndedElsewhere::kWords;
    }
    noted_ = true;
    switch (escape_of(word)) {
      case Escape::operation:
        notes_.operation = static_cast<OperationId>(value_of(word));
        return 0;
      case Escape::annotations: {
        // Never more than there is, whatever a child that shares our memory has written there.
        const std::size_t bytes = std::min<std::size_t>(value_of(word), rest.size_bytes());
        notes_.annotations.assign(reinterpret_cast<const char*>(rest.data()), bytes);
        return (bytes + sizeof(Word) - 1) / sizeof(Word);
      }
      case Escape::failed:
        notes_.failed = true;
        return 0;
      case Escape::instance:
        notes_.instance = value_of(word);
        return 0;
      case Escape::time:
        time_.set_high(value_of(word));
        return 0;
      case Escape::restart:
        handler.restart();
        return 0;
      case Escape::ended:
        return 0;  // above
    }
    return 0;
  }

  WordTime time_;
  WordNotes notes_;
  bool noted_ = false;
  std::size_t first_note_ = 0;  // in the piece that is read
  std::size_t pending_ = 0;
};

}  // namespace fathom::detail
