#include "trace/read/perfetto/tracks.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "perfetto/fields.h"
#include "trace/read/perfetto/message_fields.h"
#include "trace/read/perfetto/packets.h"

namespace fathom::trace {
namespace pf = perfetto;
namespace {

constexpr int kMaxAncestors = 16;
constexpr std::uint64_t kThreadSalt = 1;
constexpr std::uint64_t kProcessSalt = 2;
constexpr std::uint64_t kAsyncSalt = 3;

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  seed = (seed ^ value) * 0x9E3779B97F4A7C15ULL;
  return seed ^ seed >> 29;
}

void read_process(std::string_view message, TrackDescriptor& to) {
  for (Fields f(message); f.next();) {
    if (f.number() == pf::process::kPid) to.pid = f.signed_value();
    if (f.number() == pf::process::kName) to.process_name = f.bytes();
  }
}

void read_thread(std::string_view message, TrackDescriptor& to) {
  for (Fields f(message); f.next();) {
    if (f.number() == pf::thread::kPid) to.pid = f.signed_value();
    if (f.number() == pf::thread::kTid) to.tid = f.signed_value();
    if (f.number() == pf::thread::kName) to.thread_name = f.bytes();
  }
  if (!to.tid) to.tid = 0;
}

void read_counter(std::string_view message, TrackDescriptor& to) {
  to.is_counter = true;
  for (Fields f(message); f.next();) {
    if (f.number() == pf::counter::kIsIncremental) to.is_incremental = f.value() != 0;
    if (f.number() == pf::counter::kUnitMultiplier) to.unit_multiplier = f.signed_value();
  }
}

Track read_fathom_track(std::string_view message) {
  Track track;
  for (Fields f(message); f.next();) {
    switch (f.number()) {
      case pf::fathom_track::kKind:
        if (f.value() <= static_cast<std::uint64_t>(TrackKind::async)) {
          track.kind = static_cast<TrackKind>(f.value());
        }
        break;
      case pf::fathom_track::kPid:
        track.pid = f.signed_value();
        break;
      case pf::fathom_track::kTid:
        track.tid = f.signed_value();
        break;
      case pf::fathom_track::kPidText:
        track.pid_text = f.bytes();
        break;
      case pf::fathom_track::kTidText:
        track.tid_text = f.bytes();
        break;
      case pf::fathom_track::kProcessName:
        track.process_name = f.bytes();
        break;
      case pf::fathom_track::kThreadName:
        track.thread_name = f.bytes();
        break;
      case pf::fathom_track::kDevice:
        track.device = f.signed_value();
        break;
      case pf::fathom_track::kStream:
        track.stream = f.signed_value();
        break;
      default:
        break;
    }
  }
  return track;
}

}  // namespace

TrackDescriptor read_track_descriptor(std::string_view message, std::uint64_t& uuid) {
  TrackDescriptor descriptor;
  for (Fields f(message); f.next();) {
    switch (f.number()) {
      case pf::track_descriptor::kUuid:
        uuid = f.value();
        break;
      case pf::track_descriptor::kName:
      case pf::track_descriptor::kStaticName:
        descriptor.name = f.bytes();
        break;
      case pf::track_descriptor::kParentUuid:
        descriptor.parent = f.value();
        break;
      case pf::track_descriptor::kProcess:
        read_process(f.bytes(), descriptor);
        break;
      case pf::track_descriptor::kThread:
        read_thread(f.bytes(), descriptor);
        break;
      case pf::track_descriptor::kCounter:
        read_counter(f.bytes(), descriptor);
        break;
      case pf::track_descriptor::kFathomTrack:
        descriptor.ours = read_fathom_track(f.bytes());
        break;
      default:
        break;
    }
  }
  return descriptor;
}

TrackDescriptor read_thread_descriptor(std::string_view message) {
  TrackDescriptor descriptor;
  read_thread(message, descriptor);
  return descriptor;
}

TrackDescriptor read_process_descriptor(std::string_view message) {
  TrackDescriptor descriptor;
  read_process(message, descriptor);
  return descriptor;
}

std::uint64_t legacy_thread_uuid(std::int64_t pid, std::int64_t tid) {
  return mix(mix(kThreadSalt, static_cast<std::uint64_t>(pid)), static_cast<std::uint64_t>(tid));
}

std::uint64_t legacy_process_uuid(std::int64_t pid) {
  return mix(kProcessSalt, static_cast<std::uint64_t>(pid));
}

std::uint64_t legacy_async_uuid(std::uint64_t id, std::string_view scope, std::int64_t pid) {
  const std::uint64_t name = std::hash<std::string_view>{}(scope);
  return mix(mix(mix(kAsyncSalt, id), name), static_cast<std::uint64_t>(pid));
}

SlotId PerfettoTracks::slot(std::uint64_t uuid) {
  if (uuid == last_uuid_ && last_slot_ != kNone) return last_slot_;
  const auto [at, is_new] = ids_.try_emplace(uuid, static_cast<SlotId>(slots_.size()));
  if (is_new) {
    slots_.emplace_back().uuid = uuid;
    slots_.back().is_unordered = unordered_.contains(uuid);
  }
  last_uuid_ = uuid;
  last_slot_ = at->second;
  return at->second;
}

void PerfettoTracks::describe(std::uint64_t uuid, TrackDescriptor descriptor) {
  Slot& known = slots_[slot(uuid)];
  if (known.descriptor == kNone) {
    known.descriptor = static_cast<std::uint32_t>(descriptors_.size());
    descriptors_.push_back(std::move(descriptor));
  } else {
    descriptors_[known.descriptor] = std::move(descriptor);  // written again, maybe with a new name
  }
}

const TrackDescriptor* PerfettoTracks::descriptor(SlotId slot) const {
  const std::uint32_t at = slots_[slot].descriptor;
  return at == kNone ? nullptr : &descriptors_[at];
}

void PerfettoTracks::match_by_time(SlotId id, std::vector<Edge>& edges) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
  std::vector<std::uint32_t>& open = slots_[id].open;
  for (const Edge& edge : edges) {
    if (edge.row != kNone) {
      open.push_back(edge.row);
    } else if (open.empty()) {
      part_.warnings.add(WarningKind::unmatched_end, byte_of(edge.source));
    } else {
      close(part_.spans[open.back()], edge.time_ns);
      open.pop_back();
    }
  }
}

void PerfettoTracks::add_counter_value(SlotId slot, NameId name, std::int64_t time_ns,
                                       double value) {
  const auto [at, is_new] = counters_.try_emplace({slot, name}, part_.counters.size());
  if (is_new) part_.counters.push_back({name, slot, {}, {}});
  Counter& counter = part_.counters[at->second];
  counter.time_ns.push_back(time_ns);
  counter.value.push_back(value);
}

void PerfettoTracks::add_counter_step(SlotId slot, std::int64_t time_ns, double value) {
  const TrackDescriptor* known = descriptor(slot);
  if (known != nullptr && known->is_incremental) value = counter_sums_[slot] += value;
  if (known != nullptr) value *= static_cast<double>(known->unit_multiplier);
  const NameId name = known == nullptr ? 0 : part_.names.intern(known->name);
  add_counter_value(slot, name, time_ns, value);
}

void PerfettoTracks::gather_processes() {
  for (const TrackDescriptor& descriptor : descriptors_) {
    if (descriptor.pid && !descriptor.process_name.empty()) {
      process_names_[*descriptor.pid] = descriptor.process_name;
    }
  }
}

std::optional<std::int64_t> PerfettoTracks::pid_of(SlotId slot) const {
  const TrackDescriptor* known = descriptor(slot);
  for (int i = 0; known != nullptr && i < kMaxAncestors; ++i) {
    if (known->pid) return known->pid;
    const auto parent = ids_.find(known->parent);
    known = known->parent == 0 || parent == ids_.end() ? nullptr : descriptor(parent->second);
  }
  return std::nullopt;
}

TrackId PerfettoTracks::resolve(SlotId slot) {
  const TrackDescriptor* known = descriptor(slot);
  const std::int64_t pid = pid_of(slot).value_or(0);
  TrackId id = 0;
  if (known != nullptr && known->ours) {
    const Track& ours = *known->ours;
    id = part_.track(ours.kind, ours.pid, ours.tid, ours.pid_text, ours.tid_text);
    Track& track = part_.tracks[id];
    track.process_name = ours.process_name;
    track.thread_name = ours.thread_name;
    track.device = ours.device;
    track.stream = ours.stream;
    return id;
  }
  if (known != nullptr && known->tid) {
    id = part_.track(TrackKind::thread, pid, *known->tid);
    part_.tracks[id].thread_name = known->thread_name.empty() ? known->name : known->thread_name;
  } else {
    id = part_.track(TrackKind::async, pid, static_cast<std::int64_t>(slots_[slot].uuid));
    if (known != nullptr) part_.tracks[id].thread_name = known->name;
  }
  const auto process = process_names_.find(pid);
  if (process != process_names_.end()) part_.tracks[id].process_name = process->second;
  return id;
}

// A counter belongs to a process; a Trace keeps it with the first track of it.
TrackId PerfettoTracks::resolve_counter(SlotId slot) {
  const TrackDescriptor* known = descriptor(slot);
  if (known == nullptr || !known->is_counter) return resolve(slot);
  const auto parent = ids_.find(known->parent);
  if (known->parent != 0 && parent != ids_.end()) {
    const TrackDescriptor* above = descriptor(parent->second);
    if (above != nullptr && (above->ours || above->tid)) return resolve(parent->second);
  }
  const std::int64_t pid = pid_of(slot).value_or(0);
  const auto [at, is_new] = first_of_process_.try_emplace(pid, 0);
  if (is_new) at->second = part_.track(TrackKind::async, pid, 0);
  return at->second;
}

// What is open still: until its end, where somebody else knows it. Rows carry slots here.
void PerfettoTracks::close_open(std::int64_t end_ns, const std::vector<ScopeEnd>& ends) {
  using Begin = std::tuple<std::uint64_t, NameId, std::int64_t>;
  // A clock that was steered in between may say so much else of one instant.
  constexpr std::int64_t kApart = 1'000'000;
  std::map<Begin, std::int64_t> known;
  for (const ScopeEnd& end : ends) {
    if (end.start_ns < 0 || end.end_ns < end.start_ns) continue;
    known[{end.track, part_.names.intern(end.name), end.start_ns}] = end.end_ns;
  }
  // Of the scopes of this name that began at about that time, and ended later, the nearest.
  const auto end_of = [&](const SpanRow& row) {
    const Begin begin = {slots_[row.track].uuid, row.name, row.start_ns};
    const auto apart = [&](auto at) {
      const auto& [track, name, start_ns] = at->first;
      if (track != std::get<0>(begin) || name != row.name || at->second < row.start_ns) {
        return kApart;
      }
      return std::min(std::abs(start_ns - std::max<std::int64_t>(row.start_ns, 0)), kApart);
    };
    auto nearest = known.lower_bound(begin);
    if (nearest == known.end() && nearest != known.begin()) --nearest;
    if (nearest != known.begin() && apart(std::prev(nearest)) < apart(nearest)) --nearest;
    return nearest != known.end() && apart(nearest) < kApart ? nearest : known.end();
  };
  for (SpanRow& row : part_.spans) {
    if (row.duration_ns != kStillOpen) continue;
    if (const auto end = end_of(row); end != known.end()) {
      row.duration_ns = end->second - std::max<std::int64_t>(row.start_ns, 0);
      known.erase(end);
      continue;
    }
    row.duration_ns = std::max<std::int64_t>(end_ns - row.start_ns, 0);
    row.kind = SpanKind::unfinished;
    part_.warnings.add(WarningKind::unmatched_begin, byte_of(row.source));
  }
}

void PerfettoTracks::finish(std::int64_t end_ns, const std::vector<ScopeEnd>& ends) {
  for (auto& [slot, edges] : edges_) match_by_time(slot, edges);
  close_open(end_ns, ends);
  gather_processes();
  std::vector<TrackId> tracks(slots_.size(), 0);
  for (SlotId slot = 0; slot < slots_.size(); ++slot) {
    const TrackDescriptor* known = descriptor(slot);
    const bool is_thread = known != nullptr && (known->ours || known->tid) && !known->is_counter;
    if (slots_[slot].is_used || is_thread) tracks[slot] = resolve(slot);
  }
  for (SpanRow& row : part_.spans) row.track = tracks[row.track];
  for (Instant& instant : part_.instants) instant.track = tracks[instant.track];
  for (MemoryEvent& event : part_.memory) event.track = tracks[event.track];
  for (FlowPoint& point : part_.flows) point.track = tracks[point.track];
  for (TrackId id = 0; id < part_.tracks.size(); ++id) {
    first_of_process_.try_emplace(part_.tracks[id].pid, id);
  }
  for (Counter& counter : part_.counters) counter.track = resolve_counter(counter.track);
}

}  // namespace fathom::trace
