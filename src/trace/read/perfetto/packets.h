#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "perfetto/fields.h"
#include "trace/warnings.h"

namespace fathom::trace {

// Where a packet is: the byte in the file and, in a compressed one, the byte in what it unpacks to.
// Packets that come later have larger places.
using PacketPlace = std::uint64_t;
inline constexpr unsigned kInnerBits = 24;
inline constexpr std::size_t kMaxUnpackedBytes = std::size_t{1} << kInnerBits;

inline PacketPlace packet_place(std::uint64_t byte, std::uint64_t inner_byte = 0) {
  return byte << kInnerBits | inner_byte;
}
inline std::uint64_t byte_of(PacketPlace place) {
  return place >> kInnerBits;
}
inline std::uint64_t inner_byte_of(PacketPlace place) {
  return place & (kMaxUnpackedBytes - 1);
}

// A packet taken apart, as far as reading needs it.
struct PacketFields {
  std::uint64_t timestamp = 0;
  bool has_timestamp = false;
  bool is_cleared = false;
  bool is_first_after_loss = false;
  bool needs_state = false;
  bool is_broken = false;
  std::uint32_t clock = 0;  // 0: not named
  std::uint32_t sequence = 0;
  std::string_view track_event;
  std::string_view rest;  // not empty where the fields below, rarely there, must be looked for
};

// The fields of a packet that come once in a while.
struct RareFields {
  std::string_view interned;
  std::string_view defaults;
  std::string_view track_descriptor;
  std::string_view clock_snapshot;
  std::string_view thread_descriptor;
  std::string_view process_descriptor;
  std::string_view zlib_packets;
  std::string_view zstd_packets;
  std::string_view fathom_run;
};

PacketFields read_packet(std::string_view packet);
RareFields read_rare_fields(std::string_view packet);

// Finds the packets of a Trace message one after the other. Bytes that are not a packet are skipped
// to where packets follow each other again, and counted.
class PacketWalk {
 public:
  PacketWalk(std::string_view trace, Warnings& warnings, std::uint64_t warn_at = 0)
      : trace_(trace), warnings_(warnings), warn_at_(warn_at) {}

  bool next() {
    // Nearly all packets are shorter than 128 bytes.
    if (trace_.size() - at_ >= 2 && trace_[at_] == kTag) {
      const auto length = static_cast<unsigned char>(trace_[at_ + 1]);
      if (length < 0x80 && length <= trace_.size() - at_ - 2) {
        byte_ = at_;
        packet_ = {trace_.data() + at_ + 2, length};
        at_ += 2 + std::size_t{length};
        return true;
      }
    }
    return at_ < trace_.size() && next_long();
  }
  std::string_view packet() const { return packet_; }
  std::uint64_t byte() const { return byte_; }

 private:
  static constexpr char kTag = perfetto::trace::kPacket << 3 | 2;

  // Length of the packet's frame at `at` and where its content begins; nothing if there is none.
  std::optional<std::string_view> packet_at(std::size_t at) const;
  bool find_next_packet();
  bool next_long();

  std::string_view trace_;
  Warnings& warnings_;
  std::uint64_t warn_at_;
  std::size_t at_ = 0;
  std::uint64_t byte_ = 0;
  std::string_view packet_;
};

// What compressed packets unpack to, at most kMaxUnpackedBytes of it; `damaged` where it stops
// before its end.
std::string unpack_zlib(std::string_view packed, bool& damaged);
std::string unpack_zstd(std::string_view packed, bool& damaged);

}  // namespace fathom::trace
