#include "trace/read/snapshot/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "trace/read/number.h"

namespace fathom::trace {
namespace {

constexpr std::int64_t kNsPerUs = 1000;
constexpr std::size_t kSmallestValue = 8;  // bytes of a pickle that an event or a block takes
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

bool is_size(std::optional<std::int64_t> bytes) {
  return bytes && *bytes >= 0 && *bytes <= kMostBytes;
}

// No file that is true comes near the limits.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? a : result;
}

void count(Counter& counter, std::int64_t time_ns, std::int64_t value) {
  counter.time_ns.push_back(time_ns);
  counter.value.push_back(static_cast<double>(value));
}

}  // namespace

SnapshotReader::SnapshotReader(const Pickle& pickle, const Input& input, TracePart& into)
    : pickle_(pickle),
      name_(input.name()),
      values_left_(input.view().size() / kSmallestValue),
      part_(into),
      stacks_(pickle, into) {}

void SnapshotReader::spend() {
  if (values_left_-- > 0) return;
  throw base::Error(name_, "not a valid memory snapshot: it refers to the same lists many times",
                    "Dump it again with PyTorch");
}

std::optional<std::int64_t> SnapshotReader::integer(PickleRef dict, std::string_view key) const {
  const auto value = pickle_.find(dict, key);
  return value ? pickle_.integer(*value) : std::nullopt;
}

std::string_view SnapshotReader::text(PickleRef dict, std::string_view key) const {
  const auto value = pickle_.find(dict, key);
  return value ? pickle_.text(*value) : std::string_view();
}

void SnapshotReader::count_bad() {
  part_.warnings.add(WarningKind::bad_event, kNowhere);
}

void SnapshotReader::read_segments(PickleRef segments) {
  for (const PickleRef segment : pickle_.items(segments)) read_segment(segment);
}

void SnapshotReader::read_segment(PickleRef segment) {
  spend();
  const auto size = integer(segment, "total_size");
  const auto blocks = pickle_.find(segment, "blocks");
  if (!is_size(size) || !blocks) return count_bad();
  Device& device = devices_[integer(segment, "device").value_or(0)];
  device.reserved = sum(device.reserved, *size);
  ++device.segments;
  auto address = static_cast<std::uint64_t>(integer(segment, "address").value_or(0));
  device.known_segments.at_the_end(address, *size);
  for (const PickleRef block : pickle_.items(*blocks)) {
    spend();
    const auto bytes = integer(block, "size");
    if (!is_size(bytes)) {
      count_bad();
      continue;
    }
    // Older snapshots leave out where a block is: they lie one after the other.
    if (const auto said = integer(block, "address")) address = static_cast<std::uint64_t>(*said);
    const auto asked = integer(block, "requested_size");
    if (text(block, "state").starts_with("active")) {
      device.blocks[address] = {is_size(asked) ? *asked : *bytes, stacks_.of(block)};
    }
    address += static_cast<std::uint64_t>(*bytes);
  }
}

void SnapshotReader::read_traces(PickleRef traces) {
  std::int64_t index = 0;
  for (const PickleRef trace : pickle_.items(traces)) {
    Device& device = devices_[index++];
    for (const PickleRef event : pickle_.items(trace)) read_event(device, event);
  }
}

void SnapshotReader::read_event(Device& device, PickleRef value) {
  spend();
  const std::string_view action = text(value, "action");
  Event event;
  if (action == "alloc") {
    event.action = Action::alloc;
  } else if (action == "free_completed" || action == "free") {
    event.action = Action::release;
  } else if (action == "segment_alloc" || action == "segment_map") {
    event.action = Action::segment_alloc;
  } else if (action == "segment_free" || action == "segment_unmap") {
    event.action = Action::segment_free;
  } else if (action == "oom") {
    event.action = Action::out_of_memory;
  } else {
    // A free that is asked for frees nothing yet.
    if (action != "free_requested" && action != "snapshot") count_bad();
    return;
  }
  const auto size = integer(value, "size");
  if (!is_size(size)) return count_bad();
  event.bytes = *size;
  event.address = static_cast<std::uint64_t>(integer(value, "addr").value_or(0));
  const bool is_failure = event.action == Action::out_of_memory;
  if (is_failure) event.device_free = integer(value, "device_free");
  if (is_failure || event.action == Action::alloc) event.place = stacks_.of(value);
  const auto time = integer(value, "time_us");
  if (time && *time > -kMaxTime / kNsPerUs && *time < kMaxTime / kNsPerUs) {
    event.time_ns = *time * kNsPerUs;
    has_times_ = true;
  } else {
    // Without times there is the order alone.
    event.time_ns = device.events.empty() ? 0 : device.events.back().time_ns + kNsPerUs;
    part_.warnings.add(WarningKind::missing_time, kNowhere);
  }
  if (action.ends_with("map")) device.known_segments.mapped_at(event.time_ns);
  device.events.push_back(event);
}

// Blocks that the recording never saw allocated: those that it saw freed, and those in use at the
// end. Gives how many bytes they are.
std::int64_t SnapshotReader::add_older(std::int64_t index, const Device& device) {
  std::int64_t bytes = 0;
  std::unordered_set<std::uint64_t> seen;
  const auto add = [&](std::uint64_t address, const Block& block) {
    bytes = sum(bytes, block.bytes);
    part_.allocator.older.push_back({address, block.bytes, block.place.site, block.place.stack,
                                     static_cast<std::int32_t>(index)});
  };
  for (const Event& event : device.events) {
    if (event.action == Action::alloc) seen.insert(event.address);
    if (event.action == Action::release && seen.insert(event.address).second) {
      add(event.address, {event.bytes, {}});
    }
  }
  for (const auto& [address, block] : device.blocks) {
    if (!seen.contains(address)) add(address, block);
  }
  return bytes;
}

void SnapshotReader::add_failure(std::int64_t index, const Event& event) {
  part_.instants.push_back(
      {event.time_ns, kNoSource, part_.names.intern("out of memory"), track(index)});
  part_.allocator.failures.push_back({event.time_ns, event.bytes, event.device_free,
                                      event.place.site, event.place.stack,
                                      static_cast<std::int32_t>(index)});
}

// Without a recording, what is in use is all that is known.
std::vector<SnapshotReader::Event> SnapshotReader::events_of_blocks(const Device& device) {
  std::vector<Event> events;
  for (const auto& [address, block] : device.blocks) {
    Event event;
    event.address = address;
    event.bytes = block.bytes;
    event.place = block.place;
    events.push_back(event);
  }
  return events;
}

// 1 where a segment comes, -1 where one goes, 0 for all else.
std::int64_t SnapshotReader::segment_sign(const Event& event) {
  if (event.action == Action::segment_alloc) return 1;
  return event.action == Action::segment_free ? -1 : 0;
}

MemoryEvent SnapshotReader::memory_event(const Event& event, std::int64_t device) {
  MemoryEvent memory;
  memory.time_ns = event.time_ns;
  memory.bytes = event.action == Action::alloc ? event.bytes : -event.bytes;
  memory.address = event.address;
  memory.site = event.place.site;
  memory.stack = event.place.stack;
  memory.device = MemoryDevice::gpu;
  memory.device_index = static_cast<std::int32_t>(device);
  return memory;
}

TrackId SnapshotReader::track(std::int64_t device) {
  const TrackId id = part_.track(TrackKind::thread, device, 0);
  part_.tracks[id].process_name = fmt::format("GPU {}", device);
  part_.tracks[id].thread_name = "memory";
  return id;
}

void SnapshotReader::finish() {
  for (auto& [index, device] : devices_) finish(index, device);
  devices_.clear();
}

// Goes through the events in their order, from what is known of the beginning: that is the end less
// all that changed.
void SnapshotReader::finish(std::int64_t index, Device& device) {
  std::stable_sort(device.events.begin(), device.events.end(),
                   [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
  const bool is_recorded = !device.events.empty();
  std::int64_t allocated = is_recorded ? add_older(index, device) : 0;
  if (!is_recorded) device.events = events_of_blocks(device);
  if (!is_recorded && device.segments == 0) return;
  std::int64_t reserved = device.reserved;
  std::int64_t segments = device.segments;
  for (const Event& event : device.events) {
    const std::int64_t sign = segment_sign(event);
    reserved = sum(reserved, -sign * event.bytes);
    segments -= sign;
    if (sign != 0) device.known_segments.change(event.time_ns, event.address, event.bytes, sign);
  }
  for (AllocatorSegment segment : device.known_segments.all()) {
    segment.device_index = static_cast<std::int32_t>(index);
    part_.allocator.segments.push_back(segment);
  }
  const TrackId at = track(index);
  const auto counter_of = [&](const char* what) {
    Counter counter;
    counter.track = at;
    counter.name = part_.names.intern(fmt::format("GPU {} {}", index, what));
    return counter;
  };
  Counter allocated_counter = counter_of("allocated");
  Counter reserved_counter = counter_of("reserved");
  Counter segments_counter = counter_of("segments");
  const std::int64_t first = device.events.empty() ? 0 : device.events.front().time_ns;
  count(allocated_counter, first, allocated);
  count(reserved_counter, first, reserved);
  count(segments_counter, first, segments);
  for (const Event& event : device.events) {
    if (event.action == Action::out_of_memory) {
      add_failure(index, event);
    } else if (const std::int64_t sign = segment_sign(event); sign != 0) {
      count(reserved_counter, event.time_ns, reserved = sum(reserved, sign * event.bytes));
      count(segments_counter, event.time_ns, segments += sign);
    } else {
      MemoryEvent memory = memory_event(event, index);
      memory.track = at;
      memory.total_allocated = allocated = sum(allocated, memory.bytes);
      memory.total_reserved = reserved;
      part_.memory.push_back(memory);
      count(allocated_counter, event.time_ns, allocated);
    }
  }
  for (Counter* counter : {&allocated_counter, &reserved_counter, &segments_counter}) {
    part_.counters.push_back(std::move(*counter));
  }
}

// START and END of what the program named, or PyTorch did (optimizer steps).
void SnapshotReader::read_annotations(PickleRef annotations) {
  std::map<std::pair<TrackId, NameId>, std::vector<SpanRow>> open;
  std::uint64_t still_open = 0;
  for (const PickleRef value : pickle_.items(annotations)) {
    spend();
    const auto time = integer(value, "time_us");
    if (!time || *time < -kMaxTime / kNsPerUs || *time > kMaxTime / kNsPerUs) {
      count_bad();
      continue;
    }
    SpanRow row;
    row.start_ns = *time * kNsPerUs;
    row.name = part_.names.intern(text(value, "name"));
    row.track = track(integer(value, "device").value_or(0));
    row.kind = SpanKind::annotation;
    std::vector<SpanRow>& begun = open[{row.track, row.name}];
    if (text(value, "stage") == "START") {
      begun.push_back(row);
      ++still_open;
      continue;
    }
    if (begun.empty() || begun.back().start_ns > row.start_ns) {
      part_.warnings.add(WarningKind::unmatched_end, kNowhere);
      continue;
    }
    begun.back().duration_ns = row.start_ns - begun.back().start_ns;
    part_.spans.push_back(begun.back());
    begun.pop_back();
    --still_open;
  }
  part_.warnings.add(WarningKind::unmatched_begin, kNowhere, still_open);
}

}  // namespace fathom::trace
