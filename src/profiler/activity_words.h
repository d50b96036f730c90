#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "fathom/activity.h"

namespace fathom::detail {

// An activity as it waits for the writer of the run file: only what it has, in words of 8 bytes. A
// call takes 48 bytes and a kernel 88 where the struct takes 200: what one core has filled another
// has to fetch, and that is what handing over costs.
inline constexpr std::size_t kMostActivityWords = 19;

namespace activity_word {

// The first word: the name, then these, then what follows. Words follow in the order of the flags.
inline constexpr int kKindAt = 32;
inline constexpr int kDirectionAt = 36;
inline constexpr int kDimensionsAt = 40;
enum Flag : std::uint64_t {
  kQueue = std::uint64_t{1} << 44,
  kThread = std::uint64_t{1} << 45,
  kCorrelation = std::uint64_t{1} << 46,
  kBytes = std::uint64_t{1} << 47,
  kScope = std::uint64_t{1} << 48,
  kQueued = std::uint64_t{1} << 49,
  kSubmit = std::uint64_t{1} << 50,
  kStatus = std::uint64_t{1} << 51,
  kMessage = std::uint64_t{1} << 52,
};

// In place of an activity's kind.
inline constexpr std::uint64_t kMemoryKind = 14;
inline constexpr std::uint64_t kDeviceKind = 15;

constexpr std::uint64_t kind_of(std::uint64_t head) {
  return head >> kKindAt & 15;
}
constexpr std::uint64_t number(auto value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace activity_word

// Puts it at `at`, which has room for kMostActivityWords; returns where it ends.
inline std::uint64_t* put_activity(std::uint64_t* at, const GpuActivity& activity) noexcept {
  using namespace activity_word;
  std::uint64_t* const first = at;
  const std::uint8_t dimensions = activity.size.dimensions <= 3 ? activity.size.dimensions : 0;
  std::uint64_t head = activity.name.id() | number(activity.kind) << kKindAt |
                       number(activity.direction) << kDirectionAt |
                       number(dimensions) << kDimensionsAt;
  at[1] = activity.backend.id() | number(activity.device) << 32;
  at[2] = number(activity.start_ns);
  at[3] = number(activity.end_ns);
  at += 4;
  const auto append_if = [&](bool has, Flag flag, auto value) {
    if (!has) return;
    head |= flag;
    *at++ = number(value);
  };
  append_if(activity.queue.has_value(), kQueue, activity.queue.value_or(0));
  append_if(activity.thread.has_value(), kThread, activity.thread.value_or(0));
  append_if(activity.correlation.has_value(), kCorrelation, activity.correlation.value_or(0));
  append_if(activity.bytes.has_value(), kBytes, activity.bytes.value_or(0));
  append_if(bool(activity.scope), kScope, activity.scope.instance);
  append_if(activity.queued_ns.has_value(), kQueued, activity.queued_ns.value_or(0));
  append_if(activity.submit_ns.has_value(), kSubmit, activity.submit_ns.value_or(0));
  append_if(activity.status != 0, kStatus, activity.status);
  append_if(!activity.message.empty(), kMessage, activity.message.id());
  for (std::size_t i = 0; i < dimensions; ++i) *at++ = activity.size.global[i];
  for (std::size_t i = 0; i < dimensions; ++i) *at++ = activity.size.local[i];
  *first = head;
  return at;
}

// Of values that there are not, which a process that is gone may have left behind.
constexpr ActivityKind activity_kind(std::uint64_t value) {
  return value <= activity_word::number(ActivityKind::other) ? static_cast<ActivityKind>(value)
                                                             : ActivityKind::other;
}
constexpr CopyDirection copy_direction(std::uint64_t value) {
  return value <= activity_word::number(CopyDirection::peer_to_peer)
             ? static_cast<CopyDirection>(value)
             : CopyDirection::unknown;
}

// Reads the one that begins at `at`, and moves `at` to its end.
inline GpuActivity take_activity(const std::uint64_t*& at) noexcept {
  using namespace activity_word;
  const std::uint64_t head = at[0];
  GpuActivity activity;
  activity.name = std::bit_cast<Name>(static_cast<std::uint32_t>(head));
  activity.kind = activity_kind(kind_of(head));
  activity.direction = copy_direction(head >> kDirectionAt & 15);
  activity.size.dimensions = static_cast<std::uint8_t>(head >> kDimensionsAt & 3);
  activity.backend = std::bit_cast<Name>(static_cast<std::uint32_t>(at[1]));
  activity.device = static_cast<std::int32_t>(at[1] >> 32);
  activity.start_ns = static_cast<std::int64_t>(at[2]);
  activity.end_ns = static_cast<std::int64_t>(at[3]);
  at += 4;
  if (head & kQueue) activity.queue = static_cast<std::int64_t>(*at++);
  if (head & kThread) activity.thread = static_cast<std::int64_t>(*at++);
  if (head & kCorrelation) activity.correlation = static_cast<std::int64_t>(*at++);
  if (head & kBytes) activity.bytes = *at++;
  if (head & kScope) activity.scope = {*at++};
  if (head & kQueued) activity.queued_ns = static_cast<std::int64_t>(*at++);
  if (head & kSubmit) activity.submit_ns = static_cast<std::int64_t>(*at++);
  if (head & kStatus) activity.status = static_cast<std::int32_t>(*at++);
  if (head & kMessage) activity.message = std::bit_cast<Name>(static_cast<std::uint32_t>(*at++));
  for (std::size_t i = 0; i < activity.size.dimensions; ++i) activity.size.global[i] = *at++;
  for (std::size_t i = 0; i < activity.size.dimensions; ++i) activity.size.local[i] = *at++;
  return activity;
}

inline std::uint64_t* put_activity(std::uint64_t* at, const MemoryRecord& record) noexcept {
  using namespace activity_word;
  const auto flag_if = [](bool has, Flag flag) { return has ? number(flag) : 0; };
  at[0] = record.name.id() | kMemoryKind << kKindAt | flag_if(record.address.has_value(), kBytes) |
          flag_if(record.thread.has_value(), kThread) | flag_if(record.is_handle, kMessage) |
          flag_if(record.total_reserved.has_value(), kQueue);
  at[1] = number(record.device);
  at[2] = number(record.time_ns);
  at[3] = number(record.bytes);
  at[4] = record.address.value_or(0);
  at[5] = record.scope.instance;
  at[6] = number(record.thread.value_or(0));
  at[7] = number(record.total_reserved.value_or(0));
  return at + 8;
}

inline MemoryRecord take_memory(const std::uint64_t*& at) noexcept {
  using namespace activity_word;
  MemoryRecord record;
  record.name = std::bit_cast<Name>(static_cast<std::uint32_t>(at[0]));
  record.device = static_cast<std::int32_t>(at[1]);
  record.time_ns = static_cast<std::int64_t>(at[2]);
  record.bytes = static_cast<std::int64_t>(at[3]);
  if (at[0] & kBytes) record.address = at[4];
  record.scope = {at[5]};
  if (at[0] & kThread) record.thread = static_cast<std::int64_t>(at[6]);
  record.is_handle = (at[0] & kMessage) != 0;
  if (at[0] & kQueue) record.total_reserved = static_cast<std::int64_t>(at[7]);
  at += 8;
  return record;
}

inline std::uint64_t* put_activity(std::uint64_t* at, const DeviceRecord& device) noexcept {
  using namespace activity_word;
  at[0] = device.name.id() | kDeviceKind << kKindAt;
  at[1] = number(device.device);
  return at + 2;
}

inline DeviceRecord take_device(const std::uint64_t*& at) noexcept {
  DeviceRecord device;
  device.name = std::bit_cast<Name>(static_cast<std::uint32_t>(at[0]));
  device.device = static_cast<std::int32_t>(at[1]);
  at += 2;
  return device;
}

// So much of what recorders report as waits for the writer at once, in the order it came.
struct ActivityBlock {
  static constexpr std::size_t kBytes = std::size_t{1} << 18;
  static constexpr std::size_t kWords = kBytes / sizeof(std::uint64_t) - 2;

  std::uint64_t number = 0;  // counts up from 1 in the order they are filled; 0 while not in use
  std::atomic<std::uint64_t> used = 0;  // words
  std::uint64_t words[kWords];

  bool has_room() const {
    return used.load(std::memory_order_relaxed) + kMostActivityWords <= kWords;
  }
  void add(const auto& record) noexcept {
    std::uint64_t* const at = words + used.load(std::memory_order_relaxed);
    used.store(static_cast<std::uint64_t>(put_activity(at, record) - words),
               std::memory_order_release);
  }

  // Hands each record to `handler(record)`: an activity, a MemoryRecord or a DeviceRecord.
  template <typename Handler>
  void read(Handler&& handler) const {
    const std::uint64_t* at = words;
    const std::uint64_t* const end = words + std::min<std::uint64_t>(used.load(), kWords);
    while (at + kMostActivityWords <= words + kWords && at < end) {
      const std::uint64_t kind = activity_word::kind_of(*at);
      if (kind == activity_word::kMemoryKind) {
        handler(take_memory(at));
      } else if (kind == activity_word::kDeviceKind) {
        handler(take_device(at));
      } else {
        handler(take_activity(at));
      }
    }
  }
};
static_assert(sizeof(ActivityBlock) == ActivityBlock::kBytes);

}  // namespace fathom::detail
