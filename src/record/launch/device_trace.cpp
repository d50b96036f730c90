#include "record/launch/device_trace.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "fathom/figures.h"
#include "perfetto/fields.h"

namespace fathom::record {
namespace {

namespace pf = perfetto;
using protozero::pbf_writer;

// Apart from those of processes and of the launcher (run_trace.cpp).
constexpr std::uint32_t kDeviceSequence = 0x0FA71;
constexpr std::uint64_t kFirstDeviceTrack = 0x0FA7'1000'0000'0000;

struct TracedMetric {
  std::string_view name;  // short: the page has room for twenty characters beside a row
  std::string_view unit;
  std::optional<double> (*get)(const GpuReading& now);
};

constexpr std::array kTracedMetrics = {
    TracedMetric{"use", "%", [](const GpuReading& now) { return now.utilization_percent; }},
    TracedMetric{"memory", "MB",
                 [](const GpuReading& now) {
                   return now.memory_used_bytes
                              ? std::optional(static_cast<double>(*now.memory_used_bytes) /
                                              kBytesPerMb)
                              : std::nullopt;
                 }},
    TracedMetric{"temp.", "°C", [](const GpuReading& now) { return now.temperature_celsius; }},
    TracedMetric{"power", "W", [](const GpuReading& now) { return now.power_watts; }},
    TracedMetric{"clock", "MHz",
                 [](const GpuReading& now) {
                   return now.core_clock_hz ? std::optional(*now.core_clock_hz / 1e6)
                                            : std::nullopt;
                 }},
};

}  // namespace

std::string DeviceTrace::start(const std::string& command, std::int64_t unix_ns,
                               std::int64_t monotonic_raw_ns) {
  unix_offset_ns_ = unix_ns - monotonic_raw_ns;
  std::string bytes;
  pbf_writer trace(bytes);
  {
    pbf_writer packet(trace, pf::trace::kPacket);
    packet.add_uint32(pf::packet::kSequenceId, kDeviceSequence);
    packet.add_uint32(pf::packet::kSequenceFlags, pf::kStateCleared);
    pbf_writer run(packet, pf::packet::kFathomRun);
    run.add_string(pf::fathom_run::kVersion, FATHOM_VERSION);
    run.add_string(pf::fathom_run::kCommand, command);
    run.add_uint64(pf::fathom_run::kStartUnixNs, static_cast<std::uint64_t>(unix_ns));
    run.add_uint64(pf::fathom_run::kStartNs, static_cast<std::uint64_t>(monotonic_raw_ns));
  }
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kDeviceSequence);
  pbf_writer snapshot(packet, pf::packet::kClockSnapshot);
  const auto add_clock = [&](std::uint32_t id, std::int64_t ns) {
    pbf_writer clock(snapshot, pf::clock_snapshot::kClocks);
    clock.add_uint32(pf::clock::kClockId, id);
    clock.add_uint64(pf::clock::kTimestamp, static_cast<std::uint64_t>(ns));
  };
  add_clock(pf::kMonotonicRaw, monotonic_raw_ns);
  add_clock(pf::kRealtime, unix_ns);
  snapshot.add_uint32(pf::clock_snapshot::kPrimaryTraceClock, pf::kMonotonicRaw);
  return bytes;
}

std::uint64_t DeviceTrace::track_of(const GpuDevice& device, std::size_t metric, std::string& out) {
  const auto [at, is_new] =
      tracks_.try_emplace({device.uuid, metric}, kFirstDeviceTrack + tracks_.size());
  if (!is_new) return at->second;
  pbf_writer trace(out);
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kDeviceSequence);
  pbf_writer track(packet, pf::packet::kTrackDescriptor);
  track.add_uint64(pf::track_descriptor::kUuid, at->second);
  track.add_string(pf::track_descriptor::kName,
                   fmt::format("GPU {} · {} ({})", device.index, kTracedMetrics[metric].name,
                               kTracedMetrics[metric].unit));
  // An empty one says that it is a counter; a writer of a message that stays empty leaves it out.
  track.add_message(pf::track_descriptor::kCounter, std::string());
  return at->second;
}

std::string DeviceTrace::sample(std::int64_t unix_ns, const std::vector<GpuDevice>& devices) {
  std::string bytes;
  for (const GpuDevice& device : devices) {
    for (std::size_t metric = 0; metric < kTracedMetrics.size(); ++metric) {
      const auto value = kTracedMetrics[metric].get(device.now);
      if (!value) continue;
      const std::uint64_t track = track_of(device, metric, bytes);
      pbf_writer trace(bytes);
      pbf_writer packet(trace, pf::trace::kPacket);
      packet.add_uint32(pf::packet::kSequenceId, kDeviceSequence);
      packet.add_uint64(pf::packet::kTimestamp,
                        static_cast<std::uint64_t>(unix_ns - unix_offset_ns_));
      packet.add_uint32(pf::packet::kTimestampClockId, pf::kMonotonicRaw);
      pbf_writer event(packet, pf::packet::kTrackEvent);
      event.add_uint32(pf::track_event::kType, pf::track_event::kCounter);
      event.add_uint64(pf::track_event::kTrackUuid, track);
      event.add_double(pf::track_event::kDoubleCounterValue, *value);
    }
  }
  return bytes;
}

}  // namespace fathom::record
