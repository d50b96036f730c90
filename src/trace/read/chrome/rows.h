#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/builder.h"
#include "trace/read/chrome/category.h"
#include "trace/read/chrome/event.h"

namespace fathom::trace {

// One end of a span whose ends are two events. They are matched when all is read, by track and
// time.
struct EdgeRow {
  std::int64_t time_ns = 0;
  std::uint64_t source = 0;
  std::int64_t correlation = kNoCorrelation;
  NameId name = 0;
  NameId shape = 0;
  TrackId track = 0;
  SpanKind kind = SpanKind::other;
  bool is_begin = false;
};

// A pid or tid: a number, or text.
struct Place {
  std::int64_t number = 0;
  std::string text;
};

enum class LabelKind : std::uint8_t { process_name, process_labels, thread_name };

// What a metadata event says of a process or thread.
struct LabelRow {
  LabelKind kind = LabelKind::process_name;
  Place pid, tid;
  std::string text;
};

// A value of the outermost object, as JSON text.
struct HeadingValue {
  std::string key;
  std::string json;
};

// What one block of the file gives.
struct Batch {
  Batch(std::uint64_t at, Arena& arena) : begin(at), rows(&arena) {}

  std::uint64_t begin;  // offsets in the content
  std::uint64_t end = 0;
  bool is_whole = false;  // an event begins at `end` if one begins at `begin`
  bool has_event_list = false;
  std::uint64_t events = 0;
  std::vector<HeadingValue> heading;
  Rows rows;
  std::vector<EdgeRow> edges;
  std::vector<LabelRow> labels;
  Warnings warnings;
};

// What one thread has read.
struct ChromePart {
  ChromePart() { part.arena = std::make_unique<Arena>(); }

  TracePart part;
  std::vector<Batch> batches;
  std::vector<bool> is_thread;  // by track: it has spans of the CPU
};

enum class WantedArgs : std::uint8_t { none, shape, all };

// Turns events into rows: what an event means is decided here and nowhere else. One per thread.
class EventRows {
 public:
  explicit EventRows(ChromePart& part) : part_(part.part), is_thread_(part.is_thread) {}

  // From here on, rows go into `batch`.
  void begin_batch(Batch& batch);

  // Gives the batch its rows. Until then they are in memory that is used again for the next batch,
  // so that it stays in the cache.
  void end_batch();

  // Which arguments of this event, as far as it is known by now, are of use.
  WantedArgs wanted_args(const Event& event);

  void take(const Event& event);

 private:
  // Up to 16 characters as numbers; two different texts never have the same.
  struct SmallText {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t size = UINT64_MAX;
    bool operator==(const SmallText&) const = default;
  };
  struct TrackSlot {
    SmallText pid, tid;
    TrackId track = 0;
  };
  struct CategorySlot {
    SmallText text;
    Category category;
  };
  struct KnownName {
    NameId id = 0;
    std::uint32_t bad_escapes = 0;
    bool is_step = false;
  };

  static SmallText small_text(const Token& token);
  const Category& category(const Event& event);
  const Category& find_category(const Event& event);
  const KnownName& name(const Token& token, std::uint64_t source);
  std::string text(const Token& token, std::uint64_t source);
  Place place(const Token& token, std::uint64_t source);
  TrackId track(const Event& event, bool on_gpu);
  TrackId async_track(const Event& event);
  std::int64_t correlation(const Event& event) const;
  NameId shape(const Event& event, SpanKind kind);
  bool read_time(const Event& event, std::int64_t& time_ns);
  bool read_duration(const Event& event, std::int64_t start_ns, std::int64_t& duration_ns);
  void warn(WarningKind kind, std::uint64_t byte) { batch_->warnings.add(kind, byte); }

  void take_complete(const Event& event);
  void take_edge(const Event& event, bool is_begin, TrackId track);
  void take_instant(const Event& event, TrackId track);
  bool take_memory(const Event& event, std::int64_t time_ns, TrackId track);
  void take_counter(const Event& event);
  void take_flow(const Event& event, FlowPhase phase);
  void take_metadata(const Event& event);
  void note_kind(TrackId track, SpanKind kind);
  void note_stream(const Event& event, TrackId track);

  TracePart& part_;
  std::vector<bool>& is_thread_;
  Batch* batch_ = nullptr;
  std::vector<SpanRow> spans_;
  std::vector<MemoryEvent> memory_;
  base::StringPool raw_names_;
  std::vector<KnownName> known_names_;  // by id of the raw name
  std::array<CategorySlot, 64> categories_;
  std::unordered_map<std::string, Category> long_categories_;
  const Category* last_category_ = nullptr;  // of the event that is at hand
  const char* last_category_begin_ = nullptr;
  std::uint64_t last_category_source_ = UINT64_MAX;
  std::array<TrackSlot, 256> tracks_;
  std::unordered_map<std::uint64_t, std::size_t> counters_;  // of this batch
  std::string scratch_;
};

}  // namespace fathom::trace
