#include "trace/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "base/sort_runs.h"
#include "trace/span_order.h"

namespace fathom::trace {
namespace {

std::string key_of(const Track& track) {
  return fmt::format("{}|{}|{}|{}|{}", static_cast<int>(track.kind), track.pid, track.tid,
                     track.pid_text, track.tid_text);
}

bool comes_first(const Track& a, const Track& b) {
  return std::tie(a.kind, a.pid_text, a.pid, a.tid_text, a.tid) <
         std::tie(b.kind, b.pid_text, b.pid, b.tid_text, b.tid);
}

void join_track(Track& into, Track&& from) {
  if (into.process_name.empty()) into.process_name = std::move(from.process_name);
  if (into.thread_name.empty()) into.thread_name = std::move(from.thread_name);
  if (!into.device) into.device = from.device;
  if (!into.stream) into.stream = from.stream;
}

std::vector<NameId> join_names(Trace& trace, const TracePart& part) {
  std::vector<NameId> to;
  for (NameId id = 0; id < part.names.size(); ++id) {
    to.push_back(trace.names.intern(part.names.view(id)));
  }
  return to;
}

void take_allocator(Trace& trace, TracePart& part, const std::vector<NameId>& names) {
  if (part.allocator.stacks.empty()) return;
  trace.allocator = std::move(part.allocator);
  for (AllocationStack& stack : trace.allocator.stacks) {
    for (NameId& frame : stack.frames) frame = names[frame];
  }
  for (OlderBlock& block : trace.allocator.older) block.site = names[block.site];
  for (OutOfMemory& failure : trace.allocator.failures) failure.site = names[failure.site];
}

// Tracks of all parts become those of the trace, in an order that does not depend on who saw them
// first.
void join_tracks(Trace& trace, std::vector<TracePart>& parts, std::vector<Renumbering>& to) {
  std::unordered_map<std::string, TrackId> ids;
  std::vector<Track> joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (Track& track : parts[i].tracks) {
      const auto [at, is_new] = ids.try_emplace(key_of(track), joined.size());
      to[i].tracks.push_back(at->second);
      if (is_new) {
        joined.push_back(std::move(track));
      } else {
        join_track(joined[at->second], std::move(track));
      }
    }
  }
  std::vector<TrackId> order(joined.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](TrackId a, TrackId b) { return comes_first(joined[a], joined[b]); });
  std::vector<TrackId> place(joined.size());
  for (TrackId id = 0; id < order.size(); ++id) {
    place[order[id]] = id;
    trace.tracks.push_back(std::move(joined[order[id]]));
  }
  for (Renumbering& part : to) {
    for (TrackId& id : part.tracks) id = place[id];
  }
}

std::vector<Source> sources_of(std::vector<TracePart>& parts, const std::vector<Renumbering>& to) {
  std::vector<Source> sources;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sources.push_back({&parts[i], &to[i]});
    for (Rows& batch : parts[i].batches) sources.push_back({&batch, &to[i]});
  }
  std::stable_sort(sources.begin(), sources.end(),
                   [](const Source& a, const Source& b) { return a.rows->order < b.rows->order; });
  return sources;
}

// All items of one kind, by track and time. `renumber` puts one into the numbers of the whole.
template <typename Column, typename Renumber>
auto gather(const std::vector<Source>& sources, std::size_t tracks, Column Rows::*column,
            const Renumber& renumber) {
  using Item = typename Column::value_type;
  std::vector<std::size_t> place(tracks + 1);
  std::size_t count = 0;
  for (const Source& source : sources) {
    for (const Item& item : source.rows->*column) ++place[source.to->tracks[item.track]];
    count += (source.rows->*column).size();
  }
  std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
  const std::vector<std::size_t> first = place;
  std::vector<Item> items;
  items.reserve(count);
  prefer_large_pages(items.data(), count * sizeof(Item));
  items.resize(count);
  for (const Source& source : sources) {
    for (Item item : source.rows->*column) {
      renumber(item, *source.to);
      items[place[item.track]++] = item;
    }
    (source.rows->*column).clear();
    (source.rows->*column).shrink_to_fit();
  }
  for (std::size_t id = 0; id < tracks; ++id) {
    base::sort_runs(std::span(items).subspan(first[id], first[id + 1] - first[id]),
                    [](const Item& a, const Item& b) { return a.time_ns < b.time_ns; });
  }
  return items;
}

std::vector<Counter> gather_counters(const std::vector<Source>& sources) {
  std::vector<Counter> counters;
  std::unordered_map<std::uint64_t, std::size_t> ids;
  for (const Source& source : sources) {
    for (Counter& counter : source.rows->counters) {
      counter.name = source.to->names[counter.name];
      counter.track = source.to->tracks[counter.track];
      const std::uint64_t key = std::uint64_t{counter.track} << 32 | counter.name;
      const auto [at, is_new] = ids.try_emplace(key, counters.size());
      if (is_new) {
        counters.push_back(std::move(counter));
        continue;
      }
      Counter& into = counters[at->second];
      into.time_ns.insert(into.time_ns.end(), counter.time_ns.begin(), counter.time_ns.end());
      into.value.insert(into.value.end(), counter.value.begin(), counter.value.end());
    }
  }
  return counters;
}

void sort_counter(Counter& counter) {
  if (std::is_sorted(counter.time_ns.begin(), counter.time_ns.end())) return;
  std::vector<std::pair<std::int64_t, double>> points;
  for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
    points.emplace_back(counter.time_ns[i], counter.value[i]);
  }
  base::sort_runs(std::span(points),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::tie(counter.time_ns[i], counter.value[i]) = points[i];
  }
}

void place_others(Trace& trace, const std::vector<Source>& sources) {
  const std::size_t tracks = trace.tracks.size();
  const auto renumber_track = [](auto& item, const Renumbering& by) {
    item.track = by.tracks[item.track];
  };
  trace.memory =
      gather(sources, tracks, &Rows::memory, [&](MemoryEvent& item, const Renumbering& by) {
        renumber_track(item, by);
        item.site = by.names[item.site];
      });
  trace.instants =
      gather(sources, tracks, &Rows::instants, [&](Instant& item, const Renumbering& by) {
        renumber_track(item, by);
        item.name = by.names[item.name];
      });
  trace.flows = gather(sources, tracks, &Rows::flows, [&](FlowPoint& item, const Renumbering& by) {
    renumber_track(item, by);
    item.category = by.names[item.category];
  });
  trace.counters = gather_counters(sources);
  for (Counter& counter : trace.counters) sort_counter(counter);
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

Trace assemble(std::vector<TracePart> parts, RunInfo run, unsigned threads) {
  Trace trace;
  trace.run = std::move(run);
  std::vector<Renumbering> to(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    to[i].names = join_names(trace, parts[i]);
    take_allocator(trace, parts[i], to[i].names);
    trace.warnings.merge(parts[i].warnings);
  }
  join_tracks(trace, parts, to);
  const std::vector<Source> sources = sources_of(parts, to);
  base::in_parallel(threads, 2, [&](std::size_t task) {
    if (task == 0) place_spans(trace, sources, threads);
    if (task == 1) place_others(trace, sources);
  });
  return trace;
}

}  // namespace fathom::trace
