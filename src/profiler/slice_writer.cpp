#include "profiler/slice_writer.h"

#include <algorithm>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "profiler/packets.h"

namespace fathom::detail {
namespace {

namespace pf = perfetto;
using protozero::pbf_writer;

void add_annotation(pbf_writer& event, std::string_view name, auto&& add_value) {
  pbf_writer annotation(event, pf::track_event::kDebugAnnotations);
  annotation.add_string(pf::debug_annotation::kName, name.data(), name.size());
  add_value(annotation);
}

}  // namespace

SliceWriter::SliceWriter(RunFile& file, std::uint32_t sequence, std::int64_t pid,
                         std::int64_t start_ns, const SteeredClock& clock, std::size_t depth)
    : file_(file),
      sequence_(sequence),
      pid_(pid),
      start_ns_(start_ns),
      last_ns_(start_ns),
      clock_(clock),
      depth_(depth) {
  std::string packet;
  pbf_writer fields(packet);
  fields.add_uint32(pf::packet::kSequenceId, sequence);
  {
    pbf_writer event(fields, pf::packet::kTrackEvent);
    event.add_uint32(pf::track_event::kType, pf::track_event::kSliceEnd);
  }
  prefixes_.push_back(make_prefix(packet));
}

SliceWriter::Prefix SliceWriter::make_prefix(const std::string& packet) {
  // Trace.packet, a byte for the length, the fields, and the tag of the timestamp that will follow.
  Prefix prefix;
  prefix.bytes[0] = pf::trace::kPacket << 3 | 2;
  std::memcpy(prefix.bytes + 2, packet.data(), packet.size());
  prefix.bytes[2 + packet.size()] = pf::packet::kTimestamp << 3;
  prefix.bytes[15] = static_cast<std::uint8_t>(3 + packet.size());
  return prefix;
}

void SliceWriter::introduce(OperationId operation) {
  std::string introduction;
  append_packet(introduction, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence_);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kNeedsState);
    pbf_writer interned(packet, pf::packet::kInternedData);
    pbf_writer name(interned, pf::interned_data::kEventNames);
    name.add_uint64(pf::interned::kIid, operation);
    name.add_string(pf::interned::kText, operation_name(operation));
  });
  file_.append(introduction);
  std::string packet;
  pbf_writer fields(packet);
  fields.add_uint32(pf::packet::kSequenceId, sequence_);
  {
    pbf_writer event(fields, pf::packet::kTrackEvent);
    event.add_uint32(pf::track_event::kType, pf::track_event::kSliceBegin);
    event.add_uint64(pf::track_event::kNameIid, operation);
  }
  if (operation >= prefixes_.size()) prefixes_.resize(operation + 1);
  prefixes_[operation] = make_prefix(packet);
}

void SliceWriter::write_with_notes(pf::track_event::Type type, OperationId operation,
                                   std::uint64_t since_last, const WordNotes& notes) {
  std::string out;
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence_);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kNeedsState);
    packet.add_uint64(pf::packet::kTimestamp, since_last);
    std::string event_bytes;
    pbf_writer event(event_bytes);
    event.add_uint32(pf::track_event::kType, type);
    if (operation != 0) event.add_uint64(pf::track_event::kNameIid, operation);
    if (notes.failed) {
      add_annotation(event, "failed",
                     [](pbf_writer& value) { value.add_bool(pf::debug_annotation::kBool, true); });
    }
    if (notes.instance != 0) {
      add_annotation(event, "scope", [&](pbf_writer& value) {
        value.add_uint64(pf::debug_annotation::kUint, notes.instance);
      });
    }
    event_bytes += notes.annotations;
    packet.add_message(pf::packet::kTrackEvent, event_bytes);
  });
  file_.append(out);
}

std::uint64_t SliceWriter::advance(std::uint64_t ticks) {
  const std::int64_t now_ns = std::max(clock_.ns(ticks), last_ns_);
  return static_cast<std::uint64_t>(now_ns) -
         static_cast<std::uint64_t>(std::exchange(last_ns_, now_ns));
}

inline std::uint8_t* SliceWriter::append_event(std::uint8_t* at, const Prefix& prefix,
                                               std::uint64_t since_last) {
  std::uint8_t* const begin = at;
  std::memcpy(at, prefix.bytes, sizeof prefix.bytes);
  at += prefix.size();
  for (; since_last >= 0x80; since_last >>= 7) *at++ = static_cast<std::uint8_t>(since_last | 0x80);
  *at++ = static_cast<std::uint8_t>(since_last);
  begin[1] = static_cast<std::uint8_t>(at - begin - 2);
  return at;
}

void SliceWriter::write(const Prefix& prefix, std::uint64_t since_last) {
  std::uint8_t* const begin = file_.reserve(kLongestPacket);
  file_.advance(static_cast<std::size_t>(append_event(begin, prefix, since_last) - begin));
}

std::size_t SliceWriter::plain(std::span<const Word> words, WordTime& time) {
  // Bytes may be anything's, so the compiler would read every member again after each one written:
  // what the loop needs is in locals.
  constexpr std::size_t kMost = 512;
  const std::size_t count = std::min(words.size(), kMost);
  std::uint8_t* const begin = file_.reserve(kMost * kLongestPacket);
  std::uint8_t* at = begin;
  const SteeredClock clock = clock_;
  const Prefix* const prefixes = prefixes_.data();
  const std::size_t known = std::min<std::size_t>(prefixes_.size(), kMaxIndex + 1);
  WordTime now = time;
  std::int64_t last_ns = last_ns_;
  std::size_t depth = depth_;
  std::size_t taken = 0;
  for (; taken < count; ++taken) {
    __builtin_prefetch(words.data() + taken + 96);  // another CPU has them
    const Word word = words[taken];
    const Word tag = tag_of(word);
    if (tag >= known || prefixes[tag].size() == 0) break;
    if (tag == kEnd && depth == 0) break;
    depth += tag == kEnd ? SIZE_MAX : 1;
    const std::int64_t since_last = std::max<std::int64_t>(clock.ns(now.ticks(word)) - last_ns, 0);
    last_ns += since_last;
    at = append_event(at, prefixes[tag], static_cast<std::uint64_t>(since_last));
  }
  file_.advance(static_cast<std::size_t>(at - begin));
  time = now;
  last_ns_ = last_ns;
  depth_ = depth;
  return taken;
}

void SliceWriter::begin(OperationId operation, std::uint64_t ticks, const WordNotes* notes) {
  if (operation >= prefixes_.size() || prefixes_[operation].size() == 0) introduce(operation);
  const std::uint64_t since_last = advance(ticks);
  ++depth_;
  if (notes != nullptr && !notes->annotations.empty()) {
    write_with_notes(pf::track_event::kSliceBegin, operation, since_last, *notes);
  } else {
    write(prefixes_[operation], since_last);
  }
}

void SliceWriter::end(std::uint64_t ticks, const WordNotes* notes) {
  if (depth_ == 0) return;  // began where no words are
  --depth_;
  const std::uint64_t since_last = advance(ticks);
  if (notes != nullptr) {
    write_with_notes(pf::track_event::kSliceEnd, 0, since_last, *notes);
  } else {
    write(prefixes_[kEnd], since_last);
  }
}

void SliceWriter::ended(const EndedElsewhere& scope) {
  const std::uint64_t track = track_number(pid_, start_ns_, scope.thread + std::uint64_t{1});
  std::string out;
  append_packet(out, [&](pbf_writer& packet) {
    packet.add_uint32(pf::packet::kSequenceId, sequence_);
    pbf_writer run(packet, pf::packet::kFathomRun);
    pbf_writer end(run, pf::fathom_run::kScopeEnd);
    end.add_uint64(pf::fathom_scope_end::kTrack, track);
    end.add_string(pf::fathom_scope_end::kName, operation_name(scope.operation));
    end.add_int64(pf::fathom_scope_end::kStartNs, clock_.ns(scope.start));
    end.add_int64(pf::fathom_scope_end::kEndNs, clock_.ns(scope.end));
  });
  file_.append(out);
}

void SliceWriter::restart() {
  for (; depth_ > 0; --depth_) write(prefixes_[kEnd], 0);
}

}  // namespace fathom::detail
