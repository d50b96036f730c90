#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/builder.h"
#include "trace/read/perfetto/packets.h"

namespace fathom::trace {

using SlotId = std::uint32_t;

// What a TrackDescriptor says, or what stands in for one in events from before there were any.
struct TrackDescriptor {
  std::uint64_t parent = 0;
  std::string name;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
  std::string process_name;
  std::string thread_name;
  std::optional<Track> ours;  // written by Fathom: the very track it is
  bool is_counter = false;
  bool is_incremental = false;
  std::int64_t unit_multiplier = 1;
};

TrackDescriptor read_track_descriptor(std::string_view message, std::uint64_t& uuid);
TrackDescriptor read_thread_descriptor(std::string_view message);
TrackDescriptor read_process_descriptor(std::string_view message);

// When a scope ended that another thread than its own has ended.
struct ScopeEnd {
  std::uint64_t track = 0;  // uuid
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// Tracks that events imply which do not name one.
std::uint64_t legacy_thread_uuid(std::int64_t pid, std::int64_t tid);
std::uint64_t legacy_process_uuid(std::int64_t pid);
std::uint64_t legacy_async_uuid(std::uint64_t id, std::string_view scope, std::int64_t pid);

// The tracks of a Perfetto trace, by uuid, and the slices that are open on them. Events may come
// before their track is described, so rows carry slots, and `finish` turns these into tracks.
class PerfettoTracks {
 public:
  // Slices of the tracks in `unordered` are matched by time at the end, as their events do not come
  // in the order of time; those of others are matched as they come.
  PerfettoTracks(TracePart& part, std::unordered_set<std::uint64_t> unordered)
      : part_(part), unordered_(std::move(unordered)) {}

  SlotId slot(std::uint64_t uuid);
  void describe(std::uint64_t uuid, TrackDescriptor descriptor);
  const TrackDescriptor* descriptor(SlotId slot) const;

  void begin(SpanRow row);
  // The slice that ends here: its row. Null where there is none, or it will be known at the end.
  SpanRow* end(SlotId slot, std::int64_t time_ns, std::uint64_t source);
  void mark_used(SlotId slot) { slots_[slot].is_used = true; }
  void add_counter_value(SlotId slot, NameId name, std::int64_t time_ns, double value);
  // A value of a counter that may count in steps and in units of its own.
  void add_counter_step(SlotId slot, std::int64_t time_ns, double value);

  // Closes what is open, gives every row its track. `end_ns` is the end of the trace; of `ends`,
  // those are used whose scopes are open.
  void finish(std::int64_t end_ns, const std::vector<ScopeEnd>& ends);

  // Tracks found out of order that were not expected to be: read again, with these.
  const std::unordered_set<std::uint64_t>& found_unordered() const { return found_unordered_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Edge {
    std::int64_t time_ns = 0;
    std::uint32_t row = kNone;  // of a begin; none: an end
    std::uint64_t source = 0;
  };
  struct Slot {
    std::uint64_t uuid = 0;
    std::int64_t last_ns = INT64_MIN;
    std::vector<std::uint32_t> open;  // rows
    std::uint32_t descriptor = kNone;
    bool is_used = false;
    bool is_unordered = false;
  };

  void watch_order(Slot& slot, std::int64_t time_ns);
  void match_by_time(SlotId slot, std::vector<Edge>& edges);
  void close(SpanRow& row, std::int64_t end_ns);
  void gather_processes();
  void close_open(std::int64_t end_ns, const std::vector<ScopeEnd>& ends);
  TrackId resolve(SlotId slot);
  std::optional<std::int64_t> pid_of(SlotId slot) const;
  TrackId resolve_counter(SlotId slot);

  TracePart& part_;
  std::unordered_set<std::uint64_t> unordered_;
  std::unordered_set<std::uint64_t> found_unordered_;
  std::unordered_map<std::uint64_t, SlotId> ids_;
  std::uint64_t last_uuid_ = 0;
  SlotId last_slot_ = kNone;
  std::vector<Slot> slots_;
  std::vector<TrackDescriptor> descriptors_;
  std::unordered_map<SlotId, std::vector<Edge>> edges_;
  std::map<std::pair<SlotId, NameId>, std::size_t> counters_;  // → part_.counters
  std::unordered_map<SlotId, double> counter_sums_;
  std::unordered_map<std::int64_t, std::string> process_names_;
  std::unordered_map<std::int64_t, TrackId> first_of_process_;
};

inline constexpr std::int64_t kStillOpen = -1;

// Called for every slice of a file, and small: here, so that they become part of their callers.

inline void PerfettoTracks::watch_order(Slot& slot, std::int64_t time_ns) {
  if (time_ns < slot.last_ns) found_unordered_.insert(slot.uuid);
  slot.last_ns = time_ns;
}

inline void PerfettoTracks::close(SpanRow& row, std::int64_t end_ns) {
  const bool backwards = end_ns < row.start_ns;
  if (backwards) part_.warnings.add(WarningKind::negative_duration, byte_of(row.source));
  row.duration_ns = backwards ? 0 : end_ns - row.start_ns;
}

inline void PerfettoTracks::begin(SpanRow row) {
  row.duration_ns = kStillOpen;
  const auto at = static_cast<std::uint32_t>(part_.spans.size());
  part_.spans.push_back(row);
  Slot& slot = slots_[row.track];
  slot.is_used = true;
  if (slot.is_unordered) {
    edges_[row.track].push_back({row.start_ns, at, row.source});
    return;
  }
  watch_order(slot, row.start_ns);
  slot.open.push_back(at);
}

inline SpanRow* PerfettoTracks::end(SlotId id, std::int64_t time_ns, std::uint64_t source) {
  Slot& slot = slots_[id];
  if (slot.is_unordered) {
    edges_[id].push_back({time_ns, kNone, source});
    return nullptr;
  }
  watch_order(slot, time_ns);
  if (slot.open.empty()) {
    part_.warnings.add(WarningKind::unmatched_end, byte_of(source));
    return nullptr;
  }
  SpanRow& row = part_.spans[slot.open.back()];
  slot.open.pop_back();
  close(row, time_ns);
  return &row;
}

}  // namespace fathom::trace
