#include "trace/random_trace.h"

#include <fmt/format.h>

#include <array>
#include <random>
#include <string>

#include "trace/builder.h"

namespace fathom::trace::testing {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, RandomTraceOptions options) : random_(seed), options_(options) {
    constexpr std::array<std::int64_t, 4> kStarts = {0, -5'000, 1'700'000'000'123'456'789, 77};
    start_ns_ = kStarts[seed % kStarts.size()];
  }

  Trace make() {
    add_thread(part_.track(TrackKind::thread, 4711, 4711));
    add_thread(part_.track(TrackKind::thread, 4711, 4712));
    add_thread(part_.track(TrackKind::thread, 0, 0, "Spans", "PyTorch Profiler"));
    add_thread(part_.track(TrackKind::thread, -1, 139'872'345'678'901'234));
    for (const std::int64_t stream : {7, 20}) {
      const TrackId id = part_.track(TrackKind::gpu_stream, 0, stream);
      part_.tracks[id].device = 0;
      part_.tracks[id].stream = stream;
      part_.tracks[id].thread_name = fmt::format("stream {} \"compute\"", stream);
      add_stream(id);
    }
    name_processes();
    RunInfo run;
    run.title = "random \"trace\"";
    run.command = "train --epochs 3";
    run.rank = 1;
    run.world_size = 8;
    run.base_time_ns = 1'600'000'000'000'000'000;
    run.dropped_spans = 12;
    run.devices.push_back({0, "NVIDIA A100", 42'949'672'960, 108});
    std::vector<TracePart> parts;
    parts.push_back(std::move(part_));
    return assemble(std::move(parts), std::move(run));
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return pick(0, 99) < percent; }

  NameId name() {
    static const std::array<std::string, 10> kNames = {
        "aten::mm",
        "",
        "void gemm<float, 128>(float const*, int)",
        "say \"hi\"\\n",
        std::string("tab\tline\ncontrol\x01\x1f", 18),
        "größe ∑ 🔥",
        "C:\\users\\new",
        "{\"json\": [1,2]}",
        "\x7f delete",
        "a/very/long/" + std::string(300, 'x')};
    if (options_.odd_bytes && chance(5)) return part_.names.intern("bad \xff\xfe\xc3( utf-8");
    if (chance(20)) return part_.names.intern(fmt::format("op {}", pick(0, 50)));
    return part_.names.intern(kNames[static_cast<std::size_t>(pick(0, 9))]);
  }

  void name_processes() {
    for (Track& track : part_.tracks) {
      if (track.pid == 4711) track.process_name = "python3 \"train.py\"";
      if (track.pid_text == "Spans") track.process_name = "Spans";
    }
    part_.tracks[0].thread_name = "main";
  }

  void add_span(TrackId track, SpanKind kind, std::int64_t start, std::int64_t duration) {
    SpanRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.name = name();
    row.kind = kind;
    row.track = track;
    row.source = next_source_++;
    const bool has_correlation = kind == SpanKind::runtime_call || is_gpu_work(kind);
    if (has_correlation && chance(80)) row.correlation = pick(1, chance(10) ? INT64_MAX : 100'000);
    if ((kind == SpanKind::copy || kind == SpanKind::fill) && chance(80)) {
      part_.bytes.push_back({static_cast<SpanId>(part_.spans.size()), pick(0, 1LL << 40)});
    }
    part_.spans.push_back(row);
  }

  // Spans within [start, end], nested, touching, equal, empty, and some that stick out.
  void add_nest(TrackId track, std::int64_t start, std::int64_t end, int depth) {
    static constexpr std::array kKinds = {
        SpanKind::other,  SpanKind::scope,      SpanKind::cpu_op,
        SpanKind::python, SpanKind::annotation, SpanKind::runtime_call,
        SpanKind::sync,   SpanKind::overhead,   SpanKind::unfinished};
    const auto kind = [&] { return kKinds[static_cast<std::size_t>(pick(0, kKinds.size() - 1))]; };
    add_span(track, kind(), start, end - start);
    if (chance(20)) add_span(track, kind(), start, end - start);
    if (chance(10)) add_span(track, kind(), start + (end - start) / 2, end - start);
    if (chance(10)) add_span(track, kind(), end - 1, 5);
    if (chance(10)) add_span(track, kind(), chance(50) ? start : end, 0);
    if (chance(5)) add_span(track, kind(), chance(50) ? start : end, 0);
    if (depth == 0 || end - start < 4) return;
    std::int64_t at = start;
    while (at < end && chance(70)) {
      const std::int64_t stop = pick(at, end);
      add_nest(track, at, stop, depth - 1);
      at = chance(50) ? stop : stop + pick(0, 10);
    }
  }

  void add_thread(TrackId track) {
    std::int64_t at = start_ns_;
    for (int i = 0; i < 12; ++i) {
      const std::int64_t end = at + pick(1, 100'000);
      add_nest(track, at, end, static_cast<int>(pick(0, 30)));
      at = end + pick(-20, 1000);
    }
    for (int i = 0; i < 5; ++i) {
      part_.instants.push_back({start_ns_ + pick(0, 100'000), kNoSource, name(), track});
    }
    for (int i = 0; i < 5; ++i) add_memory(track);
    for (int i = 0; i < 5; ++i) {
      part_.flows.push_back({static_cast<std::uint64_t>(pick(0, chance(20) ? INT64_MAX : 9)),
                             start_ns_ + pick(0, 100'000), part_.names.intern("fwdbwd"), track,
                             static_cast<FlowPhase>(pick(0, 2))});
    }
    Counter counter{part_.names.intern(fmt::format("memory \"{}\"", track)), track, {}, {}};
    for (int i = 0; i < 20; ++i) {
      counter.time_ns.push_back(start_ns_ + i * 10);
      counter.value.push_back(static_cast<double>(pick(-1000, 1000)) / 7);
    }
    part_.counters.push_back(std::move(counter));
  }

  void add_memory(TrackId track) {
    MemoryEvent event;
    event.time_ns = start_ns_ + pick(0, 100'000);
    event.bytes = pick(-1LL << 35, 1LL << 35);
    event.track = track;
    if (chance(50)) event.address = static_cast<std::uint64_t>(pick(0, INT64_MAX)) * 2 + 1;
    if (chance(50)) event.total_allocated = pick(0, 1LL << 40);
    if (chance(50)) event.total_reserved = pick(0, 1LL << 40);
    if (chance(50)) event.device_index = static_cast<std::int32_t>(pick(0, 7));
    event.device = static_cast<MemoryDevice>(pick(0, 2));
    event.is_handle = event.address && chance(50);
    if (chance(50)) event.site = part_.names.intern("clCreate\"Buffer");
    part_.memory.push_back(event);
  }

  void add_stream(TrackId track) {
    static constexpr std::array kKinds = {SpanKind::kernel, SpanKind::copy, SpanKind::fill,
                                          SpanKind::gpu_annotation, SpanKind::sync};
    std::int64_t at = start_ns_;
    for (int i = 0; i < 200; ++i) {
      const std::int64_t duration = pick(0, 2'000);
      add_span(track, kKinds[static_cast<std::size_t>(pick(0, kKinds.size() - 1))], at, duration);
      at += chance(20) ? pick(0, duration) : duration - 1 + pick(0, 50);
    }
  }

  std::mt19937_64 random_;
  RandomTraceOptions options_;
  TracePart part_;
  std::int64_t start_ns_ = 0;
  std::uint64_t next_source_ = 0;
};

}  // namespace

Trace random_trace(std::uint64_t seed, RandomTraceOptions options) {
  return Generator(seed, options).make();
}

}  // namespace fathom::trace::testing
