#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "perfetto/fields.h"
#include "trace/builder.h"
#include "trace/read/number.h"
#include "trace/read/perfetto/clocks.h"
#include "trace/read/perfetto/event.h"
#include "trace/read/perfetto/flows.h"
#include "trace/read/perfetto/packets.h"
#include "trace/read/perfetto/run.h"
#include "trace/read/perfetto/tracks.h"

namespace fathom::trace {

// One pass over the file.
class PerfettoReader {
 public:
  PerfettoReader(Clocks clocks, std::unordered_set<std::uint64_t> unordered)
      : clocks_(std::move(clocks)), tracks_(part_, std::move(unordered)), flows_(part_) {
    intern_known_annotations(annotation_pool_);
  }

  void read(std::string_view bytes);

  bool needs_another_pass() const {
    return clocks_.learned_too_late() || !tracks_.found_unordered().empty();
  }
  Clocks take_clocks() { return std::move(clocks_); }  // with all that was learned
  const std::unordered_set<std::uint64_t>& found_unordered() const {
    return tracks_.found_unordered();
  }

  Trace finish(std::string_view bytes, std::shared_ptr<const void> owner);

 private:
  bool read_small(std::string_view packet, PacketPlace place);
  void read_one(std::string_view packet, PacketPlace place);
  bool follow_state(const PacketFields& packet, PacketPlace place);
  void read_rare(const PacketFields& packet, PacketPlace place);
  void read_unpacked(std::string_view packed, bool is_zstd, PacketPlace place);
  void read_interned(std::string_view message);
  void read_defaults(std::string_view message);
  void read_clock_snapshot(std::string_view message);
  void read_thread(std::string_view message);
  bool find_time(const PacketFields& packet, const EventFields& event, std::int64_t& time_ns);
  bool convert_time(std::uint32_t clock, std::uint64_t time, bool has_timestamp,
                    std::int64_t& time_ns);
  bool to_trace_time(std::uint32_t clock, std::uint64_t time, std::int64_t& time_ns);
  void read_track_event(const PacketFields& packet, PacketPlace place);
  void read_legacy_event(const EventFields& event, std::string_view message, SpanRow row);
  // What annotations say of a slice that begins.
  struct Noted {
    std::optional<std::int64_t> bytes;
    std::optional<std::int64_t> scope;
    std::optional<std::int64_t> error;
  };
  Noted read_annotations(std::string_view message, SpanRow& row);
  void add_noted(const Noted& noted, NameId name);  // to the span that is added next
  void end_slice(const EventFields& event, std::string_view message, const SpanRow& row);
  void add_memory_event(std::string_view message, const SpanRow& row);
  void add_instant(std::string_view message, const SpanRow& row);
  void add_complete(const LegacyFields& legacy, SpanRow row);
  void add_legacy_counter(std::string_view message, const SpanRow& row);
  SlotId legacy_track(const LegacyFields& legacy, bool is_async);
  Sequence& sequence(std::uint32_t id);

  TracePart part_;
  Clocks clocks_;
  PerfettoTracks tracks_;
  PerfettoFlows flows_;
  FathomRun run_;
  std::map<std::pair<NameId, std::int64_t>, std::uint64_t> failed_calls_;
  base::StringPool annotation_pool_;
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  std::array<Sequence*, 64> recent_ = {};  // some of them, by id
  Sequence* sequence_ = nullptr;           // of the packet at hand
  std::int64_t end_ns_ = INT64_MIN;
  bool is_inside_packed_ = false;
};

// Called for every event of a file, and small: here, so that they become part of their callers.

inline Sequence& PerfettoReader::sequence(std::uint32_t id) {
  Sequence*& recent = recent_[id % recent_.size()];
  if (recent == nullptr || recent->id != id) {
    recent = &sequences_[id];
    recent->id = id;
  }
  return *recent;
}

inline bool PerfettoReader::convert_time(std::uint32_t clock, std::uint64_t time,
                                         bool has_timestamp, std::int64_t& time_ns) {
  if (clock == 0) clock = perfetto::kBoottime;
  Sequence::Clock* own = sequence_->clocks.empty() ? nullptr : sequence_->clock(clock);
  // A clock that counts in steps may leave out a step of 0.
  if (!has_timestamp && (own == nullptr || !own->incremental)) return false;
  if (own != nullptr) {
    time *= own->unit_ns;
    if (own->incremental) time = own->last_ns += time;
  }
  return to_trace_time(clock, time, time_ns);
}

inline bool PerfettoReader::to_trace_time(std::uint32_t clock, std::uint64_t time,
                                          std::int64_t& time_ns) {
  if (clock != sequence_->last_clock) {
    sequence_->last_clock = clock;
    sequence_->last_conversion = {};
  }
  time_ns = static_cast<std::int64_t>(
      clocks_.to_trace_time(clock_key(clock, sequence_->id), time, sequence_->last_conversion));
  return time_ns > -kMaxTime && time_ns < kMaxTime;
}

}  // namespace fathom::trace
