#include "trace/read/perfetto/args.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/json_scan.h"
#include "base/json_writer.h"
#include "base/printable.h"
#include "perfetto/fields.h"
#include "trace/read/perfetto/message_fields.h"

namespace fathom::trace {
namespace pf = perfetto;
namespace {

constexpr int kMaxDepth = 64;

class ArgsWriter {
 public:
  ArgsWriter(const base::StringPool& pool, const AnnotationNames* names, std::string& out)
      : pool_(pool), names_(names), json_(out) {}

  void write_event(std::string_view event) {
    json_.begin_object();
    for (Fields f(event); f.next();) {
      if (f.number() == pf::track_event::kDebugAnnotations) write_member(f.bytes(), 0);
    }
    json_.end_object();
  }

 private:
  std::string_view text_of(IidTable AnnotationNames::*table, std::uint64_t iid) const {
    if (names_ == nullptr) return {};
    const std::uint32_t id = (names_->*table).get(iid);
    return id == IidTable::kMissing ? std::string_view() : pool_.view(id);
  }

  void write_member(std::string_view annotation, int depth) {
    std::string_view name;
    for (Fields f(annotation); f.next();) {
      if (f.number() == pf::debug_annotation::kName) name = f.bytes();
      if (f.number() == pf::debug_annotation::kNameIid) {
        name = text_of(&AnnotationNames::names, f.value());
      }
    }
    json_.key(name);
    write_value(annotation, depth);
  }

  void write_value(std::string_view annotation, int depth) {
    for (Fields f(annotation); f.next();) {
      switch (f.number()) {
        case pf::debug_annotation::kBool:
          json_.value(f.value() != 0);
          return;
        case pf::debug_annotation::kUint:
        case pf::debug_annotation::kPointer:
          json_.value(f.value());
          return;
        case pf::debug_annotation::kInt:
          json_.value(f.signed_value());
          return;
        case pf::debug_annotation::kDouble:
          json_.value(f.real());
          return;
        case pf::debug_annotation::kString:
          json_.value(f.bytes());
          return;
        case pf::debug_annotation::kStringIid:
          json_.value(text_of(&AnnotationNames::strings, f.value()));
          return;
        case pf::debug_annotation::kLegacyJson:
          write_json(f.bytes());
          return;
        case pf::debug_annotation::kNested:
          write_nested(f.bytes(), depth);
          return;
        case pf::debug_annotation::kDictEntries:
        case pf::debug_annotation::kArrayValues:
          write_children(annotation, f.number(), depth);
          return;
        default:
          break;
      }
    }
    json_.null();
  }

  void write_json(std::string_view text) {
    if (base::is_json(text)) {
      json_.raw(text);
    } else {
      json_.value(text);
    }
  }

  void write_children(std::string_view annotation, std::uint32_t field, int depth) {
    const bool is_dict = field == pf::debug_annotation::kDictEntries;
    if (depth >= kMaxDepth) {
      json_.null();
      return;
    }
    is_dict ? json_.begin_object() : json_.begin_array();
    for (Fields f(annotation); f.next();) {
      if (f.number() != field) continue;
      is_dict ? write_member(f.bytes(), depth + 1) : write_value(f.bytes(), depth + 1);
    }
    is_dict ? json_.end_object() : json_.end_array();
  }

  // NestedValue, of traces before dict_entries and array_values.
  void write_nested(std::string_view nested, int depth) {
    std::vector<std::string_view> keys;
    std::vector<std::string_view> values;
    bool is_dict = false;
    bool is_array = false;
    for (Fields f(nested); f.next();) {
      switch (f.number()) {
        case pf::nested_value::kType:
          is_dict = f.value() == 1;
          is_array = f.value() == 2;
          break;
        case pf::nested_value::kDictKeys:
          keys.push_back(f.bytes());
          break;
        case pf::nested_value::kDictValues:
        case pf::nested_value::kArrayValues:
          values.push_back(f.bytes());
          break;
        case pf::nested_value::kInt:
          json_.value(f.signed_value());
          return;
        case pf::nested_value::kDouble:
          json_.value(f.real());
          return;
        case pf::nested_value::kBool:
          json_.value(f.value() != 0);
          return;
        case pf::nested_value::kString:
          json_.value(f.bytes());
          return;
        default:
          break;
      }
    }
    if ((!is_dict && !is_array) || depth >= kMaxDepth) {
      json_.null();
      return;
    }
    is_dict ? json_.begin_object() : json_.begin_array();
    const std::size_t count = is_dict ? std::min(keys.size(), values.size()) : values.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (is_dict) json_.key(keys[i]);
      write_nested(values[i], depth + 1);
    }
    is_dict ? json_.end_object() : json_.end_array();
  }

  const base::StringPool& pool_;
  const AnnotationNames* names_;
  base::JsonWriter json_;
};

// Unpacking is as fast as reading from memory: so much of it takes seconds, not hours.
constexpr std::uint64_t kAlwaysUnpacked = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostTimesUnpacked = 64;

std::string_view packet_at(std::string_view trace, std::uint64_t byte) {
  Warnings ignored;
  PacketWalk walk(trace.substr(std::min<std::uint64_t>(byte, trace.size())), ignored);
  return walk.next() ? walk.packet() : std::string_view();
}

}  // namespace

UnpackedPackets::UnpackedPackets(std::uint64_t file_bytes)
    : UnpackedPackets(Bytes{kMostTimesUnpacked * file_bytes + kAlwaysUnpacked}) {}

std::shared_ptr<const std::string> UnpackedPackets::at(std::uint64_t byte,
                                                       std::string_view packet) {
  const RareFields rare = read_rare_fields(packet);
  if (rare.zlib_packets.empty() && rare.zstd_packets.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == byte; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return known->second;
  }
  if (left_ == 0 && !std::exchange(has_said_, true)) {
    base::say(stderr,
              "fathom: arguments in compressed packets are left out from here on: to unpack them "
              "takes many times the size of the file\n");
  }
  std::string unpacked;
  bool damaged = false;
  if (left_ > 0 && !rare.zlib_packets.empty()) unpacked = unpack_zlib(rare.zlib_packets, damaged);
  if (left_ > 0 && !rare.zstd_packets.empty()) unpacked = unpack_zstd(rare.zstd_packets, damaged);
  left_ -= std::min<std::uint64_t>(left_, unpacked.size());
  kept_.emplace_front(byte, std::make_shared<const std::string>(std::move(unpacked)));
  if (kept_.size() > kKept) kept_.pop_back();
  return kept_.front().second;
}

const AnnotationNames* PerfettoArgs::names_of(std::uint32_t sequence, PacketPlace place) const {
  const auto known = names_.find(sequence);
  if (known == names_.end() || known->second.empty()) return nullptr;
  const auto after = std::upper_bound(
      known->second.begin(), known->second.end(), place,
      [](PacketPlace at, const AnnotationNames& names) { return at < names.from_source; });
  return after == known->second.begin() ? nullptr : &*(after - 1);
}

std::string PerfettoArgs::at(PacketPlace place) const {
  std::string_view packet = packet_at(bytes_, byte_of(place));
  const std::shared_ptr<const std::string> unpacked = unpacked_->at(byte_of(place), packet);
  if (unpacked) packet = packet_at(*unpacked, inner_byte_of(place));
  const PacketFields fields = read_packet(packet);
  for (Fields f(fields.track_event); f.next();) {
    if (f.number() != pf::track_event::kDebugAnnotations) continue;
    std::string out;
    ArgsWriter(pool_, names_of(fields.sequence, place), out).write_event(fields.track_event);
    return out;
  }
  return {};
}

}  // namespace fathom::trace
