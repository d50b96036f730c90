#include "trace/read/perfetto/packets.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "perfetto/fields.h"
#include "trace/read/perfetto/message_fields.h"

namespace fathom::trace {
namespace pf = perfetto;
namespace {

constexpr std::size_t kMaxLengthBytes = 5;
// What must follow to believe that damage has ended: so many packets, none longer than this (a
// bound on what is looked at again and again in a file made to be slow), that say when or whose
// they are.
constexpr int kPacketsInARow = 3;
constexpr std::size_t kMaxProbedBytes = 256;
constexpr std::size_t kUnpackStep = 256 * 1024;

bool is_plausible(std::string_view packet) {
  if (packet.size() > kMaxProbedBytes) return false;
  const PacketFields fields = read_packet(packet);
  return !fields.is_broken && (fields.has_timestamp || fields.sequence != 0);
}

}  // namespace

PacketFields read_packet(std::string_view packet) {
  PacketFields fields;
  Fields f(packet);
  while (f.next()) {
    switch (f.number()) {
      case pf::packet::kTimestamp:
        fields.timestamp = f.value();
        fields.has_timestamp = true;
        break;
      case pf::packet::kSequenceId:
        fields.sequence = static_cast<std::uint32_t>(f.value());
        break;
      case pf::packet::kTrackEvent:
        fields.track_event = f.bytes();
        break;
      case pf::packet::kSequenceFlags:
        fields.is_cleared |= (f.value() & pf::kStateCleared) != 0;
        fields.needs_state = (f.value() & pf::kNeedsState) != 0;
        break;
      case pf::packet::kTimestampClockId:
        fields.clock = static_cast<std::uint32_t>(f.value());
        break;
      case pf::packet::kIncrementalStateCleared:
        fields.is_cleared |= f.value() != 0;
        break;
      case pf::packet::kPreviousPacketDropped:
        fields.is_first_after_loss = f.value() != 0;
        break;
      case pf::packet::kInternedData:
      case pf::packet::kDefaults:
      case pf::packet::kTrackDescriptor:
      case pf::packet::kClockSnapshot:
      case pf::packet::kThreadDescriptor:
      case pf::packet::kProcessDescriptor:
      case pf::packet::kCompressedPackets:
      case pf::packet::kZstdCompressedPackets:
      case pf::packet::kFathomRun:
        fields.rest = packet;
        break;
      default:
        break;
    }
  }
  fields.is_broken = f.broken();
  return fields;
}

RareFields read_rare_fields(std::string_view packet) {
  struct Rare {
    std::uint32_t number;
    std::string_view RareFields::*field;
  };
  static constexpr std::array<Rare, 9> kAll = {{
      {pf::packet::kInternedData, &RareFields::interned},
      {pf::packet::kDefaults, &RareFields::defaults},
      {pf::packet::kTrackDescriptor, &RareFields::track_descriptor},
      {pf::packet::kClockSnapshot, &RareFields::clock_snapshot},
      {pf::packet::kThreadDescriptor, &RareFields::thread_descriptor},
      {pf::packet::kProcessDescriptor, &RareFields::process_descriptor},
      {pf::packet::kCompressedPackets, &RareFields::zlib_packets},
      {pf::packet::kZstdCompressedPackets, &RareFields::zstd_packets},
      {pf::packet::kFathomRun, &RareFields::fathom_run},
  }};
  RareFields fields;
  for (Fields f(packet); f.next();) {
    for (const Rare& rare : kAll) {
      if (rare.number == f.number()) fields.*rare.field = f.bytes();
    }
  }
  return fields;
}

std::optional<std::string_view> PacketWalk::packet_at(std::size_t at) const {
  if (at >= trace_.size() || trace_[at] != kTag) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kMaxLengthBytes && at + 1 + i < trace_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(trace_[at + 1 + i]);
    length |= std::uint64_t{byte & 0x7FU} << (7 * i);
    if (byte >= 0x80) continue;
    const std::size_t begin = at + 2 + i;
    if (length > trace_.size() - begin) return std::nullopt;
    return trace_.substr(begin, static_cast<std::size_t>(length));
  }
  return std::nullopt;
}

bool PacketWalk::find_next_packet() {
  for (std::size_t at = trace_.find(kTag, at_ + 1); at != std::string_view::npos;
       at = trace_.find(kTag, at + 1)) {
    std::size_t next = at;
    bool follows = true;
    for (int i = 0; i < kPacketsInARow && follows; ++i) {
      const auto packet = packet_at(next);
      follows = packet.has_value() && is_plausible(*packet);
      if (follows) next = static_cast<std::size_t>(packet->data() - trace_.data()) + packet->size();
    }
    if (!follows) continue;
    at_ = at;
    return true;
  }
  return false;
}

bool PacketWalk::next_long() {
  auto packet = packet_at(at_);
  if (!packet) {
    const std::size_t damage = at_;
    if (!find_next_packet()) {
      warnings_.add(WarningKind::cut_off, warn_at_ + damage);
      at_ = trace_.size();
      return false;
    }
    warnings_.add(WarningKind::bad_event, warn_at_ + damage);
    packet = packet_at(at_);
  }
  byte_ = at_;
  packet_ = *packet;
  at_ = static_cast<std::size_t>(packet_.data() - trace_.data()) + packet_.size();
  return true;
}

std::string unpack_zlib(std::string_view packed, bool& damaged) {
  damaged = true;
  std::string out;
  z_stream stream = {};
  // 15 + 32: the header tells zlib from gzip.
  if (inflateInit2(&stream, 15 + 32) != Z_OK) return out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK && out.size() < kMaxUnpackedBytes) {
    const std::size_t done = out.size();
    out.resize(std::min(done + kUnpackStep, kMaxUnpackedBytes));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(out.size() - done);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  damaged = status != Z_STREAM_END;
  inflateEnd(&stream);
  return out;
}

std::string unpack_zstd(std::string_view packed, bool& damaged) {
  std::string out;
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, kInnerBits);
  ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
  std::size_t status = 1;
  while (status != 0 && ZSTD_isError(status) == 0 && out.size() < kMaxUnpackedBytes) {
    const std::size_t done = out.size();
    const std::size_t read = in.pos;
    out.resize(std::min(done + kUnpackStep, kMaxUnpackedBytes));
    ZSTD_outBuffer to = {out.data() + done, out.size() - done, 0};
    status = ZSTD_decompressStream(stream.get(), &to, &in);
    out.resize(done + to.pos);
    if (to.pos == 0 && in.pos == read) break;
  }
  damaged = status != 0;
  return out;
}

}  // namespace fathom::trace
