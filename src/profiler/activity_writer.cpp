#include "profiler/activity_writer.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "perfetto/fields.h"
#include "profiler/activity_packets.h"

namespace fathom::detail {
namespace {

namespace pf = perfetto;
using namespace activity_packets;

constexpr std::size_t kMostTexts = 4096;           // values of annotations that are remembered
constexpr std::uint64_t kMemoryName = UINT32_MAX;  // past every Name

bool on_thread(const GpuActivity& activity) {
  return activity.kind == ActivityKind::api_call || activity.kind == ActivityKind::sync;
}

std::uint64_t key_of(const GpuActivity& activity) {
  if (on_thread(activity)) {
    return static_cast<std::uint64_t>(activity.thread.value_or(0)) << 1 | 1;
  }
  const std::uint64_t queue = static_cast<std::uint64_t>(activity.queue.value_or(-1)) + 1;
  return (queue * 0x10001 + static_cast<std::uint32_t>(activity.device)) << 1;
}

// As the file has it, whatever the two are: also of a process that is gone.
std::uint64_t time_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<std::uint64_t>(to_ns) - static_cast<std::uint64_t>(from_ns);
}

std::string size_text(const std::array<std::uint64_t, 3>& size, std::uint8_t dimensions) {
  std::string text;
  for (std::size_t i = 0; i < dimensions && i < size.size(); ++i) {
    text += (i == 0 ? "" : "x") + std::to_string(size[i]);
  }
  return text;
}

}  // namespace

ActivityWriter::ActivityWriter(RunFile& file, std::uint32_t sequence, std::uint64_t process_track)
    : file_(file), sequence_(sequence), process_track_(process_track), pid_(getpid()) {}

ActivityWriter::ActivityWriter(RunFile& file, std::uint32_t sequence, std::uint64_t process_track,
                               std::int64_t pid, const LivePass& saved)
    : file_(file),
      sequence_(sequence),
      process_track_(process_track),
      pid_(pid),
      others_end_ns_(saved.last_activity_ns),
      last_end_ns_(saved.last_activity_ns) {
  for (const LiveMemory& memory :
       std::span(saved.memory)
           .first(std::min<std::size_t>(saved.memories, std::size(saved.memory)))) {
    memory_[static_cast<std::int32_t>(memory.device)].in_use = memory.in_use;
  }
}

void ActivityWriter::save(LivePass& into) const {
  into.last_activity_ns = last_end_ns_;
  for (const auto& [device, memory] : memory_) {
    if (into.memories == std::size(into.memory)) break;
    into.memory[into.memories++] = {device, memory.in_use};
  }
}

void ActivityWriter::start() {
  started_ = true;
  put_packet(file_, sequence_, pf::kStateCleared, [&](PacketBytes& bytes) {
    std::uint8_t* const defaults = bytes.begin(pf::packet::kDefaults);
    bytes.number(pf::defaults::kTimestampClockId, pf::kMonotonicRaw);
    bytes.end(defaults);
    std::uint8_t* const data = bytes.begin(pf::packet::kInternedData);
    for (std::uint64_t i = 1; i < kCategories; ++i) {
      add_interned(bytes, pf::interned_data::kEventCategories, i, kCategoryNames[i]);
    }
    for (std::uint64_t i = 1; i < kAnnotations; ++i) {
      add_interned(bytes, pf::interned_data::kDebugAnnotationNames, i, kAnnotationNames[i]);
    }
    add_interned(bytes, pf::interned_data::kEventNames, kMemoryName, "[memory]");
    bytes.end(data);
  });
}

std::uint64_t ActivityWriter::name_number(Name name) {
  const std::uint64_t number = name.id() + std::uint64_t{1};
  if (number >= names_.size()) names_.resize(number * 2);
  if (!names_[number]) {
    names_[number] = true;
    put_interned(file_, sequence_, pf::interned_data::kEventNames, number, name.text());
  }
  return number;
}

// 0 where there are too many to remember: then it is left out.
std::uint64_t ActivityWriter::text_number(const std::string& text) {
  if (text.empty()) return 0;
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  if (texts_.size() >= kMostTexts) return 0;
  const std::uint64_t number = texts_.emplace(text, texts_.size() + 1).first->second;
  put_interned(file_, sequence_, pf::interned_data::kDebugAnnotationStrings, number, text);
  return number;
}

std::uint64_t ActivityWriter::size_number(const LaunchSize& size, bool local) {
  if (size != last_size_) {
    last_size_ = size;
    last_size_numbers_ = {
        text_number(size_text(size.global, size.dimensions)),
        size.local[0] == 0 ? 0 : text_number(size_text(size.local, size.dimensions))};
  }
  return last_size_numbers_[local ? 1 : 0];
}

// The same for the same lane, whoever writes it.
std::uint64_t lane_uuid(std::uint64_t process_track, std::uint64_t key, std::size_t lane) {
  return process_track ^ ((key * 0x9E3779B97F4A7C15 + lane + 1) * 0xBF58476D1CE4E5B9 << 1);
}

std::uint64_t ActivityWriter::new_lane(const GpuActivity& activity, std::size_t lane) {
  const std::uint64_t uuid = lane_uuid(process_track_, key_of(activity), lane);
  std::string name = on_thread(activity)
                         ? "GPU calls of thread " + std::to_string(activity.thread.value_or(0))
                         : "GPU " + std::to_string(activity.device) + " queue " +
                               std::to_string(activity.queue.value_or(0));
  if (lane != 0) name += " (overlapping " + std::to_string(lane) + ")";
  put_packet(file_, sequence_, pf::kNeedsState, [&](PacketBytes& bytes) {
    std::uint8_t* const descriptor = bytes.begin(pf::packet::kTrackDescriptor);
    bytes.number(pf::track_descriptor::kUuid, uuid);
    bytes.text(pf::track_descriptor::kName, name);
    bytes.number(pf::track_descriptor::kParentUuid, process_track_);
    std::uint8_t* const ours = bytes.begin(pf::track_descriptor::kFathomTrack);
    bytes.number(pf::fathom_track::kKind, on_thread(activity) ? 0 : 1);
    bytes.number(pf::fathom_track::kPid, static_cast<std::uint64_t>(pid_));
    const std::int64_t tid =
        on_thread(activity) ? activity.thread.value_or(0) : activity.queue.value_or(0);
    bytes.number(pf::fathom_track::kTid, static_cast<std::uint64_t>(tid));
    if (!on_thread(activity)) {
      bytes.text(pf::fathom_track::kThreadName, name);
      bytes.number(pf::fathom_track::kDevice, static_cast<std::uint64_t>(activity.device));
      bytes.number(pf::fathom_track::kStream, static_cast<std::uint64_t>(tid));
    }
    bytes.end(ours);
    bytes.end(descriptor);
  });
  return uuid;
}

std::uint64_t ActivityWriter::lane_for(const GpuActivity& activity) {
  const std::uint64_t key = key_of(activity);
  if (last_track_ == nullptr || key != last_key_) {
    last_track_ = &tracks_[key];
    last_key_ = key;
  }
  std::vector<Lane>& lanes = last_track_->lanes;
  const bool goes_on = others_end_ns_ != INT64_MIN;
  if (lanes.empty() && goes_on) lanes.push_back({new_lane(activity, 0), others_end_ns_});
  // Past so many at the same time, which is nonsense, each has one of its own: not looked for.
  constexpr std::ptrdiff_t kMostSought = 1000;
  const auto last = lanes.begin() + std::min<std::ptrdiff_t>(std::ssize(lanes), kMostSought);
  auto lane = std::find_if(lanes.begin(), last,
                           [&](const Lane& each) { return each.end_ns <= activity.start_ns; });
  if (lane == last) {
    // Past all that the other writer can have had.
    constexpr std::size_t kPastOthers = 1000;
    lane = lanes.insert(lanes.end(),
                        {new_lane(activity, lanes.size() + (goes_on ? kPastOthers : 0)), 0});
  }
  lane->end_ns = std::max(activity.end_ns, activity.start_ns);
  last_end_ns_ = std::max(last_end_ns_, lane->end_ns);
  return lane->uuid;
}

void ActivityWriter::add_details(PacketBytes& event, const GpuActivity& activity) {
  if (activity.correlation) {
    event.number(pf::track_event::kCorrelationId,
                 static_cast<std::uint64_t>(*activity.correlation));
  }
  if (activity.bytes) add_number(event, kBytes, *activity.bytes);
  if (activity.scope) add_number(event, kScope, activity.scope.instance);
  if (activity.status != 0) {
    add_number(event, kError, static_cast<std::uint64_t>(std::int64_t{activity.status}));
  }
  if (on_thread(activity)) return;
  if (activity.queued_ns) {
    add_number(event, kQueueWait, time_between(*activity.queued_ns, activity.start_ns));
  }
  if (activity.submit_ns) {
    add_number(event, kSubmitWait, time_between(*activity.submit_ns, activity.start_ns));
  }
}

void ActivityWriter::write(const GpuActivity& activity) {
  if (!started_) start();
  // What the packet refers to is written before it is begun.
  const std::uint64_t track = lane_for(activity);
  const std::uint64_t name = name_number(activity.name);
  const bool is_sized = activity.size.dimensions != 0;
  const std::uint64_t global = is_sized ? size_number(activity.size, false) : 0;
  const std::uint64_t local = is_sized ? size_number(activity.size, true) : 0;
  const auto direction = static_cast<std::size_t>(activity.direction);
  const std::uint64_t log = activity.message.empty() ? 0 : text_number(activity.message.text());
  const std::uint64_t way = direction == 0 ? 0 : text_number(std::string(kDirections[direction]));
  put_event(file_, sequence_, pf::track_event::kSliceBegin, track, activity.start_ns,
            [&](PacketBytes& event) {
              event.number(pf::track_event::kNameIid, name);
              event.number(pf::track_event::kCategoryIids, category_of(activity.kind));
              add_details(event, activity);
              if (way != 0) add_text(event, kDirection, way);
              if (log != 0) add_text(event, kLog, log);
              if (global != 0) add_text(event, kGlobal, global);
              if (local != 0) add_text(event, kLocal, local);
            });
  put_event(file_, sequence_, pf::track_event::kSliceEnd, track,
            std::max(activity.end_ns, activity.start_ns), [](PacketBytes& /*event*/) {});
}

ActivityWriter::MemoryTrack& ActivityWriter::memory_of(std::int32_t device) {
  MemoryTrack& memory = memory_[device];
  if (memory.counter != 0) return memory;
  memory.counter = lane_uuid(process_track_, ~static_cast<std::uint64_t>(device), 0);
  const std::string name = "GPU " + std::to_string(device) + " memory";
  put_packet(file_, sequence_, pf::kNeedsState, [&](PacketBytes& bytes) {
    std::uint8_t* const descriptor = bytes.begin(pf::packet::kTrackDescriptor);
    bytes.number(pf::track_descriptor::kUuid, memory.counter);
    bytes.text(pf::track_descriptor::kName, name);
    bytes.number(pf::track_descriptor::kParentUuid, process_track_);
    std::uint8_t* const counter = bytes.begin(pf::track_descriptor::kCounter);
    bytes.number(pf::counter::kUnit, pf::counter::kSizeBytes);
    bytes.end(counter);
    bytes.end(descriptor);
  });
  return memory;
}

// Where a thread's calls are. An allocation stands among them, and so inside the scopes that were
// open on the thread: that is how a reader knows what asked for the memory.
std::uint64_t ActivityWriter::calls_of(std::int64_t thread) {
  GpuActivity call;
  call.kind = ActivityKind::api_call;
  call.thread = thread;
  std::vector<Lane>& lanes = tracks_[key_of(call)].lanes;
  if (lanes.empty())
    lanes.push_back({new_lane(call, 0), std::max<std::int64_t>(others_end_ns_, 0)});
  return lanes.front().uuid;
}

void ActivityWriter::write(const MemoryRecord& record) {
  if (!started_) start();
  MemoryTrack& memory = memory_of(record.device);
  const std::uint64_t track = record.thread ? calls_of(*record.thread) : process_track_;
  const std::uint64_t by = text_number(record.name.text());
  memory.in_use = static_cast<std::int64_t>(static_cast<std::uint64_t>(memory.in_use) +
                                            static_cast<std::uint64_t>(record.bytes));
  put_event(
      file_, sequence_, pf::track_event::kInstant, track, record.time_ns, [&](PacketBytes& event) {
        event.number(pf::track_event::kNameIid, kMemoryName);
        add_number(event, kMemoryBytes, static_cast<std::uint64_t>(record.bytes));
        if (record.address) {
          add_number(event, record.is_handle ? kHandle : kAddress, *record.address);
        }
        add_number(event, kTotalAllocated, static_cast<std::uint64_t>(memory.in_use));
        if (record.total_reserved) {
          add_number(event, kTotalReserved, static_cast<std::uint64_t>(*record.total_reserved));
        }
        add_number(event, kDeviceId, static_cast<std::uint64_t>(record.device));
        add_number(event, kDeviceType, 1);
        if (record.scope) add_number(event, kScope, record.scope.instance);
        if (by != 0) add_text(event, kBy, by);
      });
  put_event(file_, sequence_, pf::track_event::kCounter, memory.counter, record.time_ns,
            [&](PacketBytes& event) {
              event.number(pf::track_event::kCounterValue,
                           static_cast<std::uint64_t>(memory.in_use));
            });
}

void ActivityWriter::write(const DeviceRecord& device) {
  if (!started_) start();
  const std::string name = device.name.text().substr(0, kMostText);
  put_packet(
      file_, sequence_, pf::kNeedsState,
      [&](PacketBytes& bytes) {
        std::uint8_t* const run = bytes.begin(pf::packet::kFathomRun);
        std::uint8_t* const entry = bytes.begin(pf::fathom_run::kDevice);
        bytes.number(pf::fathom_device::kId, static_cast<std::uint64_t>(device.device));
        bytes.text(pf::fathom_device::kName, name);
        bytes.end(entry);
        bytes.end(run);
      },
      kMostBytes + kMostText);
}

void ActivityWriter::write(const ActivityLog::Stream& stream) {
  for (const ActivityLog::Block& block : stream.blocks) {
    block->read([this](const auto& record) { write(record); });
  }
}

}  // namespace fathom::detail
