#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/builder.h"
#include "trace/read/input.h"
#include "trace/read/snapshot/pickle.h"
#include "trace/read/snapshot/segments.h"
#include "trace/read/snapshot/stacks.h"

namespace fathom::trace {

// Turns the segments and traces of a snapshot into memory events, counters and annotations. Call
// read_segments, read_traces, finish and read_annotations in this order; each may be left out.
// Throws base::Error for more events than the file has room for: lists in a pickle may stand in it
// many times, and a few kilobytes of them mean gigabytes.
class SnapshotReader {
 public:
  SnapshotReader(const Pickle& pickle, const Input& input, TracePart& into);

  void read_segments(PickleRef segments);
  void read_traces(PickleRef traces);
  void finish();
  void read_annotations(PickleRef annotations);

  bool has_times() const { return has_times_; }

 private:
  enum class Action : std::uint8_t { alloc, release, segment_alloc, segment_free, out_of_memory };

  struct Event {
    Action action = Action::alloc;
    std::int64_t time_ns = 0;
    std::int64_t bytes = 0;
    std::uint64_t address = 0;
    std::optional<std::int64_t> device_free;  // where memory ran out
    StackReader::Place place;
  };

  // A block that is in use at the end of the recording.
  struct Block {
    std::int64_t bytes = 0;
    StackReader::Place place;
  };

  struct Device {
    std::map<std::uint64_t, Block> blocks;  // by address
    std::int64_t reserved = 0;              // at the end
    std::int64_t segments = 0;
    Segments known_segments;
    std::vector<Event> events;
  };

  void read_segment(PickleRef segment);
  void read_event(Device& device, PickleRef value);
  void finish(std::int64_t index, Device& device);
  std::int64_t add_older(std::int64_t index, const Device& device);
  void add_failure(std::int64_t index, const Event& event);
  static std::vector<Event> events_of_blocks(const Device& device);
  static std::int64_t segment_sign(const Event& event);
  static MemoryEvent memory_event(const Event& event, std::int64_t device);
  TrackId track(std::int64_t device);
  std::optional<std::int64_t> integer(PickleRef dict, std::string_view key) const;
  std::string_view text(PickleRef dict, std::string_view key) const;
  void count_bad();
  void spend();

  const Pickle& pickle_;
  std::string name_;
  std::uint64_t values_left_;
  TracePart& part_;
  bool has_times_ = false;
  std::map<std::int64_t, Device> devices_;
  StackReader stacks_;
};

}  // namespace fathom::trace
