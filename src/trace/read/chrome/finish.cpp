#include "trace/read/chrome/finish.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace fathom::trace {
namespace {

using TrackKey = std::tuple<std::int64_t, std::int64_t, std::string, std::string>;

TrackKey track_key(const Track& track) {
  return {track.pid, track.tid, track.pid_text, track.tid_text};
}

// Arrows, marks and spans without a category name a stream by pid and tid alone, so they were taken
// for those of a thread. Where nothing says that there is such a thread, but there is such a
// stream, they belong to the stream.
void join_streams(std::vector<ChromePart>& parts) {
  std::set<TrackKey> streams;
  for (const ChromePart& part : parts) {
    for (const Track& track : part.part.tracks) {
      if (track.kind == TrackKind::gpu_stream) streams.insert(track_key(track));
    }
  }
  if (streams.empty()) return;
  std::set<TrackKey> threads;
  for (const ChromePart& part : parts) {
    for (TrackId id = 0; id < part.is_thread.size(); ++id) {
      const Track& track = part.part.tracks[id];
      if (part.is_thread[id] && track.kind == TrackKind::thread) threads.insert(track_key(track));
    }
  }
  for (ChromePart& part : parts) {
    for (Track& track : part.part.tracks) {
      const TrackKey key = track_key(track);
      if (track.kind == TrackKind::thread && streams.contains(key) && !threads.contains(key)) {
        track.kind = TrackKind::gpu_stream;
      }
    }
  }
}

std::int64_t end_of(const std::vector<ChromePart>& parts) {
  std::int64_t end = INT64_MIN;
  for (const ChromePart& part : parts) {
    for (const Batch& batch : part.batches) {
      for (const SpanRow& row : batch.rows.spans) {
        end = std::max(end, row.start_ns + row.duration_ns);
      }
      for (const Instant& row : batch.rows.instants) end = std::max(end, row.time_ns);
      for (const MemoryEvent& row : batch.rows.memory) end = std::max(end, row.time_ns);
      for (const EdgeRow& row : batch.edges) end = std::max(end, row.time_ns);
    }
  }
  return end;
}

// All edges in one part's numbers.
std::vector<EdgeRow> gather_edges(std::vector<ChromePart>& parts, TracePart& into) {
  std::vector<EdgeRow> edges;
  for (ChromePart& from : parts) {
    std::vector<TrackId> tracks(from.part.tracks.size(), UINT32_MAX);
    std::vector<NameId> names(from.part.names.size(), UINT32_MAX);
    const auto in_one = [&](NameId id) {
      NameId& name = names[id];
      if (name == UINT32_MAX) name = into.names.intern(from.part.names.view(id));
      return name;
    };
    for (Batch& batch : from.batches) {
      for (EdgeRow row : batch.edges) {
        TrackId& track = tracks[row.track];
        const Track& old = from.part.tracks[row.track];
        if (track == UINT32_MAX) {
          track = into.track(old.kind, old.pid, old.tid, old.pid_text, old.tid_text);
        }
        row.track = track;
        row.name = in_one(row.name);
        row.shape = in_one(row.shape);
        edges.push_back(row);
      }
      batch.edges = {};
    }
  }
  return edges;
}

SpanRow span_of(const EdgeRow& begin, std::int64_t end_ns) {
  SpanRow row;
  row.start_ns = begin.time_ns;
  row.duration_ns = end_ns - begin.time_ns;
  row.correlation = begin.correlation;
  row.source = begin.source;
  row.name = begin.name;
  row.shape = begin.shape;
  row.track = begin.track;
  row.kind = begin.kind;
  return row;
}

// An end closes what began last on its track. What never ends is drawn to the end of the trace.
void match_edges(std::vector<EdgeRow> edges, std::int64_t trace_end, TracePart& into) {
  std::sort(edges.begin(), edges.end(), [](const EdgeRow& a, const EdgeRow& b) {
    return std::tie(a.track, a.time_ns, a.source) < std::tie(b.track, b.time_ns, b.source);
  });
  std::vector<EdgeRow> open;
  const auto give_up_open = [&] {
    for (const EdgeRow& begin : open) {
      into.spans.push_back(span_of(begin, trace_end));
      into.spans.back().kind = SpanKind::unfinished;
      into.warnings.add(WarningKind::unmatched_begin, begin.source);
    }
    open.clear();
  };
  for (const EdgeRow& edge : edges) {
    if (!open.empty() && open.back().track != edge.track) give_up_open();
    if (edge.is_begin) {
      open.push_back(edge);
    } else if (open.empty()) {
      into.warnings.add(WarningKind::unmatched_end, edge.source);
    } else {
      into.spans.push_back(span_of(open.back(), edge.time_ns));
      open.pop_back();
    }
  }
  give_up_open();
}

using PlaceKey = std::pair<std::int64_t, std::string>;

void name_tracks(Trace& trace, const std::vector<LabelRow>& labels) {
  std::map<PlaceKey, std::string> processes;
  std::map<PlaceKey, std::string> process_labels;
  std::map<std::pair<PlaceKey, PlaceKey>, std::string> threads;
  for (const LabelRow& row : labels) {
    const PlaceKey pid{row.pid.number, row.pid.text};
    if (row.kind == LabelKind::process_name) processes[pid] = row.text;
    if (row.kind == LabelKind::process_labels) process_labels[pid] = row.text;
    if (row.kind == LabelKind::thread_name) {
      threads[{pid, {row.tid.number, row.tid.text}}] = row.text;
    }
  }
  for (Track& track : trace.tracks) {
    const PlaceKey pid{track.pid, track.pid_text};
    if (const auto at = processes.find(pid); at != processes.end()) track.process_name = at->second;
    if (const auto at = process_labels.find(pid);
        at != process_labels.end() && track.process_name.empty()) {
      track.process_name = at->second;
    }
    if (track.kind == TrackKind::async) continue;
    const auto at = threads.find({pid, {track.tid, track.tid_text}});
    if (at != threads.end()) track.thread_name = at->second;
  }
}

// Counters belong to processes: their place is the first track of theirs.
void place_counters(Trace& trace) {
  std::map<PlaceKey, TrackId> first;
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    first.try_emplace({trace.tracks[id].pid, trace.tracks[id].pid_text}, id);
  }
  for (Counter& counter : trace.counters) {
    const Track& track = trace.tracks[counter.track];
    counter.track = first.at({track.pid, track.pid_text});
  }
}

}  // namespace

Trace finish_chrome(std::vector<ChromePart> parts, RunInfo run, Warnings warnings,
                    unsigned threads) {
  join_streams(parts);
  TracePart matched;
  matched.order = UINT64_MAX;
  std::vector<EdgeRow> edges = gather_edges(parts, matched);
  if (!edges.empty()) {
    std::int64_t end = end_of(parts);
    for (const EdgeRow& edge : edges) end = std::max(end, edge.time_ns);
    match_edges(std::move(edges), end, matched);
  }

  std::vector<std::pair<std::uint64_t, LabelRow>> labels;
  std::vector<TracePart> all;
  for (ChromePart& part : parts) {
    for (Batch& batch : part.batches) {
      for (LabelRow& label : batch.labels) labels.emplace_back(batch.begin, std::move(label));
      warnings.merge(batch.warnings);
      batch.rows.order = batch.begin;
      part.part.batches.push_back(std::move(batch.rows));
    }
    all.push_back(std::move(part.part));
  }
  all.push_back(std::move(matched));
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<LabelRow> in_order;
  in_order.reserve(labels.size());
  for (auto& [begin, label] : labels) in_order.push_back(std::move(label));

  Trace trace = assemble(std::move(all), std::move(run), threads);
  trace.warnings.merge(warnings);
  name_tracks(trace, in_order);
  if (!trace.counters.empty()) place_counters(trace);
  return trace;
}

}  // namespace fathom::trace
