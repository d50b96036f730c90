#include <algorithm>

#include "perfetto/fields.h"
#include "trace/read/perfetto/reader.h"

// The pass over a file, and the packets that most of a recording is made of: when, whose, and a
// slice that begins or ends. They take the shortest way; all others go to read_one.
namespace fathom::trace {
namespace pf = perfetto;
namespace {

constexpr std::size_t kSmallestSpanBytes = 20;

struct SmallPacket {
  std::uint64_t timestamp = 0;
  std::uint64_t sequence = 0;
  std::uint64_t type = 0;
  std::uint64_t name_iid = 0;
  bool has_timestamp = false;
};

constexpr unsigned char varint_tag(std::uint32_t field) {
  return static_cast<unsigned char>(field << 3);
}
constexpr unsigned char bytes_tag(std::uint32_t field) {
  return static_cast<unsigned char>(field << 3 | 2);
}

// Of up to four bytes; others are rare enough.
[[gnu::always_inline]] inline bool take_varint(const char*& at, const char* end,
                                               std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 28 && at != end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

[[gnu::always_inline]] inline bool take_small_event(const char* at, const char* end,
                                                    SmallPacket& to) {
  while (at != end) {
    switch (static_cast<unsigned char>(*at++)) {
      case varint_tag(pf::track_event::kType):
        if (!take_varint(at, end, to.type)) return false;
        break;
      case varint_tag(pf::track_event::kNameIid):
        if (!take_varint(at, end, to.name_iid)) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

// False for a packet that has anything else in it.
bool read_small_packet(std::string_view packet, SmallPacket& to) {
  const char* at = packet.data();
  const char* const end = at + packet.size();
  while (at != end) {
    switch (static_cast<unsigned char>(*at++)) {
      case varint_tag(pf::packet::kTimestamp):
        if (!take_varint(at, end, to.timestamp)) return false;
        to.has_timestamp = true;
        break;
      case varint_tag(pf::packet::kSequenceId):
        if (!take_varint(at, end, to.sequence)) return false;
        break;
      case bytes_tag(pf::packet::kTrackEvent): {
        std::uint64_t size = 0;
        if (to.type != 0) return false;  // of two, the last counts
        if (!take_varint(at, end, size) || size > static_cast<std::uint64_t>(end - at))
          return false;
        if (!take_small_event(at, at + size, to)) return false;
        at += size;
        break;
      }
      default:
        return false;
    }
  }
  return to.type == pf::track_event::kSliceBegin || to.type == pf::track_event::kSliceEnd;
}

}  // namespace

void PerfettoReader::read(std::string_view bytes) {
  // Room for as many spans as there can be in packets as small as ours; what is not used costs
  // nothing, and growing would cost a copy of everything.
  part_.spans.reserve(bytes.size() / kSmallestSpanBytes);
  prefer_large_pages(part_.spans.data(), part_.spans.capacity() * sizeof(SpanRow));
  for (PacketWalk walk(bytes, part_.warnings); walk.next();) {
    const PacketPlace place = packet_place(walk.byte());
    if (!read_small(walk.packet(), place)) read_one(walk.packet(), place);
  }
}

// The fewest steps from bytes to a slice. False, and nothing has happened, where the packet or its
// sequence needs more than that.
bool PerfettoReader::read_small(std::string_view packet, PacketPlace place) {
  SmallPacket small;
  if (!read_small_packet(packet, small)) return false;
  Sequence& from = sequence(static_cast<std::uint32_t>(small.sequence));
  if (from.default_slot == UINT32_MAX || !from.has_default_track) return false;
  SpanRow row;
  if (small.name_iid != 0) {
    row.name = from.names.get(small.name_iid);
    if (row.name == IidTable::kMissing) return false;
  }
  sequence_ = &from;
  from.was_seen = true;
  if (!convert_time(from.default_clock, small.timestamp, small.has_timestamp, row.start_ns)) {
    part_.warnings.add(WarningKind::missing_time, byte_of(place));
    return true;
  }
  end_ns_ = std::max(end_ns_, row.start_ns);
  if (small.type == pf::track_event::kSliceEnd) {
    tracks_.end(from.default_slot, row.start_ns, place);
    return true;
  }
  row.source = place;
  row.track = from.default_slot;
  if (run_.is_recording) row.kind = SpanKind::scope;
  tracks_.begin(row);
  return true;
}

}  // namespace fathom::trace
