#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>

#include "fathom/figures.h"
#include "perfetto/fields.h"

namespace fathom::detail {

// One packet of a trace; `fill(packet)` adds its fields.
template <typename Fill>
void append_packet(std::string& out, Fill&& fill) {
  protozero::pbf_writer trace(out);
  protozero::pbf_writer packet(trace, perfetto::trace::kPacket);
  fill(packet);
}

// Packets of a run file, ready to be written. docs/formats.md says what is in them.
struct RunStart {
  std::int64_t pid = 0;
  std::string command;
  std::string process_name;
  std::string host;
  std::uint64_t process_track = 0;
  std::int64_t start_unix_ns = 0;
  std::int64_t start_ns = 0;  // CLOCK_MONOTONIC_RAW
};
// Track numbers must differ between the files of different processes. The process itself is 0, a
// thread its number and 1.
std::uint64_t track_number(std::int64_t pid, std::int64_t start_ns, std::uint64_t number);

void append_run_start(std::string& out, const RunStart& run);

void append_run_end(std::string& out, std::span<const NamedFigures> operations,
                    std::uint64_t dropped_scopes, std::uint64_t dropped_activities);

// Begins a packet sequence whose events are on one track, with times counted from the last packet,
// the first from `start_ns`.
void append_sequence_start(std::string& out, std::uint32_t sequence, std::uint64_t track,
                           std::int64_t start_ns);
void append_thread(std::string& out, std::uint32_t sequence, std::uint64_t track,
                   std::uint64_t process_track, std::int64_t pid, std::int64_t tid,
                   std::string_view name);

}  // namespace fathom::detail
