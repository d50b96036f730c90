#pragma once

#include <memory>
#include <memory_resource>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/arena.h"
#include "trace/trace.h"

namespace fathom::trace {

// A span before it has its place in the Trace.
struct SpanRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t correlation = kNoCorrelation;
  std::uint64_t source = kNoSource;
  NameId name = 0;
  NameId shape = 0;
  TrackId track = 0;
  SpanKind kind = SpanKind::other;
};

// What a reader finds, in the order it finds it.
struct Rows {
  Rows() = default;
  explicit Rows(std::pmr::memory_resource* from) : spans(from), memory(from) {}

  std::uint64_t order = 0;  // batches are joined by this, so threads do not show in the result
  std::pmr::vector<SpanRow> spans;
  std::vector<SpanBytes> bytes;  // `span` is the index into spans above
  std::vector<SpanScope> scopes;
  std::vector<Instant> instants;
  std::vector<Counter> counters;
  std::pmr::vector<MemoryEvent> memory;
  std::vector<FlowPoint> flows;
};

// What one thread of a reader gathers; `assemble` makes the Trace of one or many. Names and tracks
// are numbered within the part. A reader that learns only later which rows are to be kept gathers
// them in batches; others use the rows of the part itself.
struct TracePart : Rows {
  std::unique_ptr<Arena> arena;  // of the batches, where they have one
  base::StringPool names;
  std::vector<Track> tracks;
  AllocatorHistory allocator;  // of one part at most
  std::vector<Rows> batches;
  Warnings warnings;

  // The track of this kind, pid and tid (number or text); made when it is new.
  TrackId track(TrackKind kind, std::int64_t pid, std::int64_t tid, std::string_view pid_text = {},
                std::string_view tid_text = {});

 private:
  std::unordered_map<std::string, TrackId> track_ids_;
};

// Joins the parts: names and tracks become one, spans are sorted and get their parents. Uses up to
// `threads` threads. The parts are consumed, and their memory is given back as the work goes on.
Trace assemble(std::vector<TracePart> parts, RunInfo run, unsigned threads = 1);

}  // namespace fathom::trace
