#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "fathom/figures.h"
#include "trace/allocator.h"
#include "trace/kind.h"
#include "trace/warnings.h"

namespace fathom::trace {

using NameId = base::StringId;
using TrackId = std::uint32_t;
using SpanId = std::uint32_t;

inline constexpr SpanId kNoSpan = UINT32_MAX;
inline constexpr std::int64_t kNoCorrelation = -1;
inline constexpr std::uint64_t kNoSource = UINT64_MAX;

enum class TrackKind : std::uint8_t { thread, gpu_stream, async };

// A row of the timeline. `pid` and `tid` are what the source calls it; where the source has text in
// their place ("stream 7", "Spans"), the text is in `pid_text`/`tid_text` and the number is 0.
struct Track {
  TrackKind kind = TrackKind::thread;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string pid_text;
  std::string tid_text;
  std::string process_name;  // from metadata; empty when unknown
  std::string thread_name;
  std::optional<std::int64_t> device;  // of a GPU stream
  std::optional<std::int64_t> stream;

  SpanId first_span = 0;  // its spans are [first_span, first_span + span_count)
  SpanId span_count = 0;
};

// One row a span, sorted by track, then start, then longer first, then order in the source.
// 49 bytes per span.
struct Spans {
  std::vector<NameId> name;
  std::vector<NameId> shape;  // what it worked on: "grid 32x1x1, block 256x1x1"; 0 where unknown
  std::vector<SpanKind> kind;
  std::vector<TrackId> track;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> correlation;  // launch ↔ GPU work; kNoCorrelation where there is none
  std::vector<SpanId> parent;         // innermost span of the track that contains it, or kNoSpan
  std::vector<std::uint64_t> source;  // where the reader can find the rest of it, or kNoSource

  std::size_t size() const { return name.size(); }
  std::int64_t end_ns(SpanId id) const { return start_ns[id] + duration_ns[id]; }
};

// Bytes that a copy or fill moved, for those that say so. Sorted by span.
struct SpanBytes {
  SpanId span = kNoSpan;
  std::int64_t bytes = 0;
};

// The library scope that a call or GPU work was launched in, by the number its process gave it; of
// a scope, its own number. For those that say so, sorted by span.
struct SpanScope {
  SpanId span = kNoSpan;
  std::uint64_t scope = 0;
};

struct Instant {
  std::int64_t time_ns = 0;
  std::uint64_t source = kNoSource;
  NameId name = 0;
  TrackId track = 0;
};

struct Counter {
  NameId name = 0;
  TrackId track = 0;  // the first track of its process
  std::vector<std::int64_t> time_ns;
  std::vector<double> value;
};

enum class MemoryDevice : std::uint8_t { cpu, gpu, unknown };

// An allocation (bytes > 0) or a free (bytes < 0).
struct MemoryEvent {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
  std::optional<std::uint64_t> address;  // the same for an allocation and its free
  std::optional<std::int64_t> total_allocated;
  std::optional<std::int64_t> total_reserved;
  TrackId track = 0;
  NameId site = 0;  // the call or stack that allocated it; 0 where unknown
  StackId stack = 0;
  std::int32_t device_index = -1;  // as the source says; -1 where it does not
  MemoryDevice device = MemoryDevice::unknown;
  bool is_handle = false;  // `address` names an object; it says nothing of where its memory is
};

enum class FlowPhase : std::uint8_t { begin, step, end };

// An arrow's end, other than launch → GPU work, which `correlation` says.
struct FlowPoint {
  std::uint64_t id = 0;
  std::int64_t time_ns = 0;
  NameId category = 0;
  TrackId track = 0;
  FlowPhase phase = FlowPhase::begin;
};

struct DeviceInfo {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> multiprocessors;
};

// What the source says about the run as a whole. Unknown is absent.
struct RunInfo {
  std::string format;   // "Kineto JSON", "Perfetto", "profile JSON", …
  std::string command;  // the profiled program
  std::string title;
  std::optional<std::int64_t> base_time_ns;  // add to a span's time to get Unix time
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> dropped_spans;  // recorded and lost, as counted by the recorder
  std::optional<std::int64_t> begin_ns;       // when the program was started, and when it was over
  std::optional<std::int64_t> end_ns;
  std::optional<std::int64_t> exit_status;  // or the signal that ended it
  std::optional<std::int64_t> signal;
  std::optional<std::int64_t> cpu_ns;  // processor time, of the program and its children
  std::vector<DeviceInfo> devices;
};

// Calls of a GPU runtime, or commands, that failed the same way.
struct FailedCalls {
  std::string call;
  std::int64_t error = 0;  // as the runtime numbers it
  std::uint64_t calls = 0;
};

// A recording, whatever it came from. Times are nanoseconds on the source's clock.
// Spans, instants, memory events and flow points are each sorted by time within a track.
struct Trace {
  base::StringPool names;
  std::vector<Track> tracks;
  Spans spans;
  std::vector<SpanBytes> bytes;
  std::vector<SpanScope> scopes;
  std::vector<Instant> instants;
  std::vector<Counter> counters;
  std::vector<MemoryEvent> memory;
  AllocatorHistory allocator;
  std::vector<FlowPoint> flows;
  // Figures that the source carries beside its spans: exact however many spans were dropped, and
  // all there is in a profile without entries. Empty where the source has spans alone.
  std::vector<NamedFigures> operations;
  std::vector<FailedCalls> failed_calls;  // as Fathom's recorders tell of them
  RunInfo run;
  Warnings warnings;

  // JSON object text of the arguments at a `source`; empty where there are none. Set by readers
  // that leave arguments in the file; it owns what it needs to find them.
  std::function<std::string(std::uint64_t source)> args_at;

  std::string_view name(SpanId id) const { return names.view(spans.name[id]); }
  std::string args(SpanId id) const {
    const std::uint64_t source = spans.source[id];
    return args_at && source != kNoSource ? args_at(source) : std::string();
  }
};

}  // namespace fathom::trace
