#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

#include "perfetto/fields.h"
#include "trace/read/perfetto/perfetto.h"

namespace fathom::trace::testing {

namespace pf = perfetto;
using protozero::pbf_writer;
using Fill = std::function<void(pbf_writer&)>;

// A Perfetto trace put together by hand, packet by packet.
class PerfettoBuilder {
 public:
  // A packet with whatever `fill` puts into it.
  PerfettoBuilder& packet(const Fill& fill) {
    std::string bytes;
    pbf_writer writer(bytes);
    fill(writer);
    pbf_writer(trace_).add_message(pf::trace::kPacket, bytes);
    return *this;
  }

  // A packet of a sequence with a track event in it.
  PerfettoBuilder& event(std::uint32_t sequence, std::uint64_t time, const Fill& fill) {
    return packet([&](pbf_writer& writer) {
      writer.add_uint64(pf::packet::kTimestamp, time);
      writer.add_uint32(pf::packet::kSequenceId, sequence);
      add(writer, pf::packet::kTrackEvent, fill);
    });
  }

  PerfettoBuilder& begin(std::uint64_t track, std::uint64_t time, std::string_view name) {
    return event(1, time, [&](pbf_writer& writer) {
      writer.add_uint32(pf::track_event::kType, pf::track_event::kSliceBegin);
      writer.add_uint64(pf::track_event::kTrackUuid, track);
      writer.add_string(pf::track_event::kName, std::string(name));
    });
  }

  PerfettoBuilder& end(std::uint64_t track, std::uint64_t time) {
    return event(1, time, [&](pbf_writer& writer) {
      writer.add_uint32(pf::track_event::kType, pf::track_event::kSliceEnd);
      writer.add_uint64(pf::track_event::kTrackUuid, track);
    });
  }

  // A packet that describes the track of a thread.
  PerfettoBuilder& thread(std::uint64_t uuid, std::int32_t pid, std::int32_t tid,
                          std::string_view name) {
    return packet([&](pbf_writer& writer) {
      add(writer, pf::packet::kTrackDescriptor, [&](pbf_writer& track) {
        track.add_uint64(pf::track_descriptor::kUuid, uuid);
        add(track, pf::track_descriptor::kThread, [&](pbf_writer& thread) {
          thread.add_int32(pf::thread::kPid, pid);
          thread.add_int32(pf::thread::kTid, tid);
          thread.add_string(pf::thread::kName, std::string(name));
        });
      });
    });
  }

  const std::string& bytes() const { return trace_; }

  static void add(pbf_writer& to, std::uint32_t field, const Fill& fill) {
    std::string bytes;
    pbf_writer writer(bytes);
    fill(writer);
    to.add_message(field, bytes);
  }

  static void intern(pbf_writer& data, std::uint32_t table, std::uint64_t iid,
                     std::string_view text) {
    add(data, table, [&](pbf_writer& entry) {
      entry.add_uint64(pf::interned::kIid, iid);
      entry.add_string(pf::interned::kText, std::string(text));
    });
  }

  static void clock(pbf_writer& snapshot, std::uint32_t id, std::uint64_t time,
                    bool is_incremental = false, std::uint64_t unit_ns = 0) {
    add(snapshot, pf::clock_snapshot::kClocks, [&](pbf_writer& clock) {
      clock.add_uint32(pf::clock::kClockId, id);
      clock.add_uint64(pf::clock::kTimestamp, time);
      if (is_incremental) clock.add_bool(pf::clock::kIsIncremental, true);
      if (unit_ns != 0) clock.add_uint64(pf::clock::kUnitMultiplierNs, unit_ns);
    });
  }

 private:
  std::string trace_;
};

inline Trace read(const std::string& bytes) {
  const auto owned = std::make_shared<const std::string>(bytes);
  return read_perfetto(*owned, owned);
}

// "name start+duration", a line each.
inline std::string spans_of(const Trace& trace) {
  std::string text;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    text += std::string(trace.name(id)) + " " + std::to_string(trace.spans.start_ns[id]) + "+" +
            std::to_string(trace.spans.duration_ns[id]) + "\n";
  }
  return text;
}

}  // namespace fathom::trace::testing
