#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "fathom/activity.h"
#include "perfetto/fields.h"
#include "profiler/packet_bytes.h"
#include "profiler/run_file.h"

// The packets of GPU activities in a run file: the texts that every sequence of them knows, and how
// events and further texts are put into the file.
namespace fathom::detail::activity_packets {

namespace pf = perfetto;

inline constexpr std::size_t kMostBytes = 1024;  // of a packet without texts of the program's
inline constexpr std::size_t kMostText = 4096;   // of a name; longer ones are cut

// Numbers of the texts that every sequence knows from its first packet.
enum Category : std::uint8_t { kKernel = 1, kCopy, kFill, kCall, kSync, kOther, kCategories };
inline constexpr std::array<std::string_view, kCategories> kCategoryNames = {
    "", "kernel", "copy", "fill", "runtime_call", "sync", "other"};

enum Annotation : std::uint8_t {
  kBytes = 1,
  kScope,
  kDevice,
  kStream,
  kBackend,
  kDirection,
  kQueueWait,
  kSubmitWait,
  kGlobal,
  kLocal,
  kError,
  kMemoryBytes,
  kAddress,
  kDeviceId,
  kDeviceType,
  kBy,
  kTotalAllocated,
  kHandle,
  kTotalReserved,
  kLog,
  kAnnotations
};
inline constexpr std::array<std::string_view, kAnnotations> kAnnotationNames = {"",
                                                                                "bytes",
                                                                                "scope",
                                                                                "device",
                                                                                "stream",
                                                                                "backend",
                                                                                "direction",
                                                                                "queue_wait_ns",
                                                                                "submit_wait_ns",
                                                                                "global",
                                                                                "local",
                                                                                "error",
                                                                                "Bytes",
                                                                                "Addr",
                                                                                "Device Id",
                                                                                "Device Type",
                                                                                "by",
                                                                                "Total Allocated",
                                                                                "Handle",
                                                                                "Total Reserved",
                                                                                "log"};

inline constexpr std::array<std::string_view, 5> kDirections = {
    "", "host to device", "device to host", "device to device", "peer to peer"};

inline Category category_of(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kernel:
      return kKernel;
    case ActivityKind::copy:
      return kCopy;
    case ActivityKind::fill:
      return kFill;
    case ActivityKind::api_call:
      return kCall;
    case ActivityKind::sync:
      return kSync;
    case ActivityKind::other:
      break;
  }
  return kOther;
}

inline void add_number(PacketBytes& event, Annotation name, std::uint64_t value) {
  std::uint8_t* const annotation = event.begin(pf::track_event::kDebugAnnotations);
  event.number(pf::debug_annotation::kNameIid, name);
  event.number(pf::debug_annotation::kInt, value);
  event.end(annotation);
}

inline void add_text(PacketBytes& event, Annotation name, std::uint64_t number) {
  std::uint8_t* const annotation = event.begin(pf::track_event::kDebugAnnotations);
  event.number(pf::debug_annotation::kNameIid, name);
  event.number(pf::debug_annotation::kStringIid, number);
  event.end(annotation);
}

inline void add_interned(PacketBytes& data, std::uint32_t field, std::uint64_t number,
                         std::string_view text) {
  std::uint8_t* const entry = data.begin(field);
  data.number(pf::interned::kIid, number);
  data.text(pf::interned::kText, text.substr(0, kMostText));
  data.end(entry);
}

// One packet; `fill(bytes)` adds to it.
template <typename Fill>
void put_packet(RunFile& file, std::uint32_t sequence, std::uint32_t flags, Fill&& fill,
                std::size_t most = kMostBytes) {
  std::uint8_t* const begin = file.reserve(most);
  PacketBytes bytes(begin);
  std::uint8_t* const packet = bytes.begin(pf::trace::kPacket);
  bytes.number(pf::packet::kSequenceId, sequence);
  bytes.number(pf::packet::kSequenceFlags, flags);
  fill(bytes);
  bytes.end(packet);
  file.advance(static_cast<std::size_t>(bytes.at() - begin));
}

// Gives a text a number, by which later packets name it.
inline void put_interned(RunFile& file, std::uint32_t sequence, std::uint32_t field,
                         std::uint64_t number, std::string_view text) {
  put_packet(
      file, sequence, pf::kNeedsState,
      [&](PacketBytes& bytes) {
        std::uint8_t* const data = bytes.begin(pf::packet::kInternedData);
        add_interned(bytes, field, number, text);
        bytes.end(data);
      },
      kMostBytes + kMostText);
}

template <typename Fill>
void put_event(RunFile& file, std::uint32_t sequence, pf::track_event::Type type,
               std::uint64_t track, std::int64_t time_ns, Fill&& fill) {
  put_packet(file, sequence, pf::kNeedsState, [&](PacketBytes& bytes) {
    bytes.number(pf::packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
    std::uint8_t* const event = bytes.begin(pf::packet::kTrackEvent);
    bytes.number(pf::track_event::kType, type);
    bytes.number(pf::track_event::kTrackUuid, track);
    fill(bytes);
    bytes.end(event);
  });
}

}  // namespace fathom::detail::activity_packets
