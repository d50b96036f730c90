#include "trace/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace fathom::trace {
namespace {

std::string key_of(const Track& track) {
  return fmt::format("{}|{}|{}|{}|{}", static_cast<int>(track.kind), track.pid, track.tid,
                     track.pid_text, track.tid_text);
}

void join_track(Track& into, Track&& from) {
  if (into.process_name.empty()) into.process_name = std::move(from.process_name);
  if (into.thread_name.empty()) into.thread_name = std::move(from.thread_name);
  if (!into.device) into.device = from.device;
  if (!into.stream) into.stream = from.stream;
}

// What the numbers of one part are in the whole.
struct Renumbering {
  std::vector<NameId> names;
  std::vector<TrackId> tracks;
};

class Assembly {
 public:
  Renumbering take_names_and_tracks(TracePart& part) {
    Renumbering to;
    for (NameId id = 0; id < part.names.size(); ++id) {
      to.names.push_back(trace_.names.intern(part.names.view(id)));
    }
    for (Track& track : part.tracks) {
      const auto [at, is_new] = track_ids_.try_emplace(key_of(track), trace_.tracks.size());
      to.tracks.push_back(at->second);
      if (is_new) {
        trace_.tracks.push_back(std::move(track));
      } else {
        join_track(trace_.tracks[at->second], std::move(track));
      }
    }
    return to;
  }

  Trace& trace() { return trace_; }

 private:
  Trace trace_;
  std::unordered_map<std::string, TrackId> track_ids_;
};

bool comes_first(const SpanRow& a, const SpanRow& b) {
  if (a.track != b.track) return a.track < b.track;
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
  return a.source < b.source;
}

// Parents by one sweep over a track's spans. The stack holds the spans that may still contain a
// later one; their ends decrease from bottom to top. A span that ends later than the top and began
// no earlier takes its place: whatever fits into the top from here on fits into the newer one too.
void set_parents(Spans& spans, const Track& track) {
  std::vector<SpanId> open;
  for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
    while (!open.empty() && spans.end_ns(open.back()) < spans.end_ns(id)) open.pop_back();
    spans.parent[id] = open.empty() ? kNoSpan : open.back();
    open.push_back(id);
  }
}

void place_spans(Trace& trace, const std::vector<SpanRow>& rows,
                 const std::vector<SpanBytes>& bytes) {
  std::vector<SpanId> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](SpanId a, SpanId b) { return comes_first(rows[a], rows[b]); });
  std::vector<SpanId> place(rows.size());
  for (SpanId to = 0; to < order.size(); ++to) {
    const SpanRow& row = rows[order[to]];
    place[order[to]] = to;
    trace.spans.name.push_back(row.name);
    trace.spans.kind.push_back(row.kind);
    trace.spans.track.push_back(row.track);
    trace.spans.start_ns.push_back(row.start_ns);
    trace.spans.duration_ns.push_back(row.duration_ns);
    trace.spans.correlation.push_back(row.correlation);
    trace.spans.source.push_back(row.source);
    Track& track = trace.tracks[row.track];
    if (track.span_count++ == 0) track.first_span = to;
  }
  trace.spans.parent.resize(rows.size());
  for (const Track& track : trace.tracks) set_parents(trace.spans, track);
  for (const SpanBytes& item : bytes) trace.bytes.push_back({place[item.span], item.bytes});
  std::sort(trace.bytes.begin(), trace.bytes.end(),
            [](const SpanBytes& a, const SpanBytes& b) { return a.span < b.span; });
}

template <typename Item>
void sort_by_time(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.track != b.track ? a.track < b.track : a.time_ns < b.time_ns;
  });
}

}  // namespace

TrackId TracePart::track(TrackKind kind, std::int64_t pid, std::int64_t tid,
                         std::string_view pid_text, std::string_view tid_text) {
  Track track;
  track.kind = kind;
  track.pid = pid;
  track.tid = tid;
  track.pid_text = pid_text;
  track.tid_text = tid_text;
  const auto [at, is_new] = track_ids_.try_emplace(key_of(track), tracks.size());
  if (is_new) tracks.push_back(std::move(track));
  return at->second;
}

Trace assemble(std::vector<TracePart> parts, RunInfo run, unsigned /*threads*/) {
  Assembly assembly;
  Trace& trace = assembly.trace();
  trace.run = std::move(run);
  std::vector<SpanRow> rows;
  std::vector<SpanBytes> bytes;
  std::unordered_map<std::uint64_t, std::size_t> counter_ids;
  for (TracePart& part : parts) {
    const Renumbering to = assembly.take_names_and_tracks(part);
    part.batches.push_back(std::move(static_cast<Rows&>(part)));
    for (Rows& rows_in : part.batches) {
      const auto offset = static_cast<SpanId>(rows.size());
      for (SpanRow row : rows_in.spans) {
        row.name = to.names[row.name];
        row.track = to.tracks[row.track];
        rows.push_back(row);
      }
      for (const SpanBytes& item : rows_in.bytes) bytes.push_back({item.span + offset, item.bytes});
      for (Instant instant : rows_in.instants) {
        instant.name = to.names[instant.name];
        instant.track = to.tracks[instant.track];
        trace.instants.push_back(instant);
      }
      for (MemoryEvent event : rows_in.memory) {
        event.track = to.tracks[event.track];
        trace.memory.push_back(event);
      }
      for (FlowPoint point : rows_in.flows) {
        point.category = to.names[point.category];
        point.track = to.tracks[point.track];
        trace.flows.push_back(point);
      }
      for (Counter& counter : rows_in.counters) {
        counter.name = to.names[counter.name];
        counter.track = to.tracks[counter.track];
        const std::uint64_t key = std::uint64_t{counter.track} << 32 | counter.name;
        const auto [at, is_new] = counter_ids.try_emplace(key, trace.counters.size());
        if (is_new) {
          trace.counters.push_back(std::move(counter));
        } else {
          Counter& into = trace.counters[at->second];
          into.time_ns.insert(into.time_ns.end(), counter.time_ns.begin(), counter.time_ns.end());
          into.value.insert(into.value.end(), counter.value.begin(), counter.value.end());
        }
      }
    }
    trace.warnings.merge(part.warnings);
    part = {};
  }
  place_spans(trace, rows, bytes);
  sort_by_time(trace.instants);
  sort_by_time(trace.memory);
  sort_by_time(trace.flows);
  return std::move(trace);
}

}  // namespace fathom::trace
