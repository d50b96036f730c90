#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perfetto/fields.h"
#include "profiler/clock.h"
#include "profiler/run_file.h"
#include "profiler/word_reader.h"

namespace fathom::detail {

// Writes the scopes of one thread as slices: 10 to 14 bytes per begin or end, put together from
// prepared bytes, because the writer has a few nanoseconds for each.
class SliceWriter {
 public:
  // Of a process that began to record at `start_ns`, with so many scopes open.
  SliceWriter(RunFile& file, std::uint32_t sequence, std::int64_t pid, std::int64_t start_ns,
              const SteeredClock& clock, std::size_t depth = 0);

  std::size_t depth() const { return depth_; }

  // The handler of a WordReader.
  void begin(OperationId operation, std::uint64_t ticks, const WordNotes* notes);
  void end(std::uint64_t ticks, const WordNotes* notes);
  void restart();
  void ended(const EndedElsewhere& scope);
  std::size_t plain(std::span<const Word> words, WordTime& time);

 private:
  // A packet up to its timestamp, which is what differs. Its size is in the last byte; 0 is for an
  // operation that has no name in this sequence yet.
  struct Prefix {
    std::uint8_t bytes[16] = {};
    std::size_t size() const { return bytes[15]; }
  };
  static constexpr std::size_t kLongestPacket = sizeof(Prefix) + 10;

  static Prefix make_prefix(const std::string& packet);
  static std::uint8_t* append_event(std::uint8_t* at, const Prefix& prefix,
                                    std::uint64_t since_last);
  std::uint64_t advance(std::uint64_t ticks);
  void write(const Prefix& prefix, std::uint64_t since_last);
  void write_with_notes(perfetto::track_event::Type type, OperationId operation,
                        std::uint64_t since_last, const WordNotes& notes);
  void introduce(OperationId operation);

  RunFile& file_;
  const std::uint32_t sequence_;
  const std::int64_t pid_;
  const std::int64_t start_ns_;
  std::int64_t last_ns_;
  const SteeredClock& clock_;
  std::size_t depth_;
  std::vector<Prefix> prefixes_;  // of an operation's begin; [kEnd] is that of every end
};

}  // namespace fathom::detail
