#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/json_writer.h"
#include "trace/read/chrome/category.h"
#include "trace/write/args.h"
#include "trace/write/decimal.h"
#include "trace/write/formats.h"
#include "trace/write/lanes.h"

namespace fathom::trace {
namespace {

using base::append_json_string;

// Microseconds with all their nanoseconds.
void append_us(std::string& out, std::int64_t ns) {
  append_scaled(out, ns, 3);
}

// As Kineto calls them, so that every viewer and tool knows them; the rest by their own names.
std::string_view category_for(SpanKind kind, TrackKind track) {
  switch (kind) {
    case SpanKind::python:
      return "python_function";
    case SpanKind::annotation:
      return "user_annotation";
    case SpanKind::gpu_annotation:
      return "gpu_user_annotation";
    case SpanKind::runtime_call:
      return "cuda_runtime";
    case SpanKind::copy:
      return "gpu_memcpy";
    case SpanKind::fill:
      return "gpu_memset";
    case SpanKind::sync:
      return track == TrackKind::gpu_stream ? "cuda_sync" : "sync";
    default:
      return name_of(kind);
  }
}

class ChromeWriter {
 public:
  ChromeWriter(const Trace& trace, base::Output& out)
      : trace_(trace), out_(out.buffer()), output_(out) {
    for (const Track& track : trace.tracks) is_async_.push_back(can_be_async(track));
  }

  void write() {
    write_head();
    for (TrackId id = 0; id < trace_.tracks.size(); ++id) write_names(trace_.tracks[id]);
    for (TrackId id = 0; id < trace_.tracks.size(); ++id) write_spans(id);
    for (const Instant& instant : trace_.instants) write_instant(instant);
    for (const MemoryEvent& event : trace_.memory) write_memory(event);
    for (const Counter& counter : trace_.counters) write_counter(counter);
    for (const FlowPoint& point : trace_.flows) write_flow(point);
    out_ += "\n]}\n";
    output_.flush_if_full();
  }

 private:
  void write_head();
  void write_names(const Track& track);
  void write_spans(TrackId id);
  void write_nested(const Track& track);
  void write_span(SpanId id, const Track& track, char phase);
  void write_instant(const Instant& instant);
  void write_memory(const MemoryEvent& event);
  void write_counter(const Counter& counter);
  void write_flow(const FlowPoint& point);

  bool can_be_async(const Track& track) const;
  void begin_event(char phase, std::string_view name, const Track& track);
  void add_time(std::int64_t time_ns);
  void add_category(std::string_view category);
  void add_async_id(const Track& track);
  void add_arg(std::string_view key, std::string_view json);
  void add_span_args(SpanId id, const Track& track);
  void end_args();
  void end_event();

  const Trace& trace_;
  std::string& out_;
  base::Output& output_;
  std::vector<bool> is_async_;  // by track
  bool has_events_ = false;
  bool has_args_ = false;
  std::set<std::pair<std::int64_t, std::string>> named_processes_;
};

void ChromeWriter::write_head() {
  const RunInfo& run = trace_.run;
  base::JsonWriter json(out_);
  json.begin_object().key("schemaVersion").value(1).key("displayTimeUnit").value("ms");
  if (!run.title.empty()) json.key("traceName").value(run.title);
  if (run.base_time_ns) json.key("baseTimeNanoseconds").value(*run.base_time_ns);
  if (run.rank || run.world_size) {
    json.key("distributedInfo").begin_object();
    if (run.rank) json.key("rank").value(*run.rank);
    if (run.world_size) json.key("world_size").value(*run.world_size);
    json.end_object();
  }
  if (!run.devices.empty()) {
    json.key("deviceProperties").begin_array();
    for (const DeviceInfo& device : run.devices) {
      json.begin_object().key("id").value(device.id).key("name").value(device.name);
      if (device.memory_bytes) json.key("totalGlobalMem").value(*device.memory_bytes);
      if (device.multiprocessors) json.key("numSms").value(*device.multiprocessors);
      json.end_object();
    }
    json.end_array();
  }
  if (!run.command.empty() || run.dropped_spans) {
    json.key("otherData").begin_object();
    if (!run.command.empty()) json.key("command").value(run.command);
    if (run.dropped_spans) json.key("dropped_spans").value(*run.dropped_spans);
    json.end_object();
  }
  json.key("traceEvents");
  out_ += "[";
}

void append_id(std::string& out, std::int64_t number, const std::string& text) {
  if (text.empty()) {
    fmt::format_to(std::back_inserter(out), "{}", number);
  } else {
    append_json_string(out, text);
  }
}

void ChromeWriter::begin_event(char phase, std::string_view name, const Track& track) {
  out_ += has_events_ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"";
  has_events_ = true;
  has_args_ = false;
  out_ += phase;
  out_ += "\",\"name\":";
  append_json_string(out_, name);
  out_ += ",\"pid\":";
  append_id(out_, track.pid, track.pid_text);
  out_ += ",\"tid\":";
  append_id(out_, track.tid, track.tid_text);
}

void ChromeWriter::add_time(std::int64_t time_ns) {
  out_ += ",\"ts\":";
  append_us(out_, time_ns);
}

void ChromeWriter::add_category(std::string_view category) {
  out_ += ",\"cat\":";
  append_json_string(out_, category);
}

void ChromeWriter::add_async_id(const Track& track) {
  fmt::format_to(std::back_inserter(out_), ",\"id\":\"{:#x}\"",
                 static_cast<std::uint64_t>(track.tid));
}

void ChromeWriter::add_arg(std::string_view key, std::string_view json) {
  out_ += has_args_ ? "," : ",\"args\":{";
  has_args_ = true;
  append_json_string(out_, key);
  out_ += ':';
  out_ += json;
}

void ChromeWriter::end_args() {
  if (has_args_) out_ += '}';
}

void ChromeWriter::end_event() {
  end_args();
  out_ += '}';
  output_.flush_if_full();
}

void ChromeWriter::write_names(const Track& track) {
  const auto write_name = [&](std::string_view what, const std::string& name) {
    std::string text;
    append_json_string(text, name);
    begin_event('M', what, track);
    add_time(0);
    add_arg("name", text);
    end_event();
  };
  const bool is_new = named_processes_.emplace(track.pid, track.pid_text).second;
  if (is_new && !track.process_name.empty()) write_name("process_name", track.process_name);
  if (!track.thread_name.empty()) write_name("thread_name", track.thread_name);
}

// Whether events of the async kind can carry the track: they are told apart by category and id, so
// its spans must be of one category, and lie within or apart from each other.
bool ChromeWriter::can_be_async(const Track& track) const {
  if (track.kind != TrackKind::async || track.tid_text.empty()) return false;
  const auto kind = category_of(track.tid_text).kind;
  const auto first = trace_.spans.kind.begin() + track.first_span;
  if (!std::all_of(first, first + track.span_count, [&](SpanKind k) { return k == kind; })) {
    return false;
  }
  const std::vector<std::uint32_t> lanes = lanes_of(trace_.spans, track);
  return std::all_of(lanes.begin(), lanes.end(), [](std::uint32_t lane) { return lane == 0; });
}

void ChromeWriter::write_spans(TrackId track_id) {
  const Track& track = trace_.tracks[track_id];
  if (is_async_[track_id]) {
    write_nested(track);
    return;
  }
  for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
    write_span(id, track, 'X');
  }
}

void ChromeWriter::write_nested(const Track& track) {
  std::vector<SpanId> open;
  const auto close_until = [&](std::int64_t time_ns) {
    while (!open.empty() && trace_.spans.end_ns(open.back()) <= time_ns) {
      begin_event('e', trace_.name(open.back()), track);
      add_time(trace_.spans.end_ns(open.back()));
      add_category(track.tid_text);
      add_async_id(track);
      end_event();
      open.pop_back();
    }
  };
  for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
    close_until(trace_.spans.start_ns[id]);
    write_span(id, track, 'b');
    open.push_back(id);
  }
  close_until(std::numeric_limits<std::int64_t>::max());
}

void ChromeWriter::write_span(SpanId id, const Track& track, char phase) {
  begin_event(phase, trace_.name(id), track);
  add_time(trace_.spans.start_ns[id]);
  if (phase == 'X') {
    out_ += ",\"dur\":";
    append_us(out_, trace_.spans.duration_ns[id]);
    add_category(category_for(trace_.spans.kind[id], track.kind));
  } else {
    add_category(track.tid_text);
    add_async_id(track);
  }
  add_span_args(id, track);
  end_event();
}

void ChromeWriter::add_span_args(SpanId id, const Track& track) {
  Args args = split_args(trace_.args(id));
  if (trace_.spans.correlation[id] != kNoCorrelation) {
    remove_arg(args, "correlation");
    add_arg("correlation", fmt::format_int(trace_.spans.correlation[id]).c_str());
  }
  const auto bytes =
      std::lower_bound(trace_.bytes.begin(), trace_.bytes.end(), id,
                       [](const SpanBytes& item, SpanId wanted) { return item.span < wanted; });
  if (bytes != trace_.bytes.end() && bytes->span == id) {
    remove_arg(args, "bytes");
    add_arg("bytes", fmt::format_int(bytes->bytes).c_str());
  }
  if (track.kind == TrackKind::gpu_stream) {
    if (track.device && find_arg(args, "device") == nullptr) {
      add_arg("device", fmt::format_int(*track.device).c_str());
    }
    if (track.stream && find_arg(args, "stream") == nullptr) {
      add_arg("stream", fmt::format_int(*track.stream).c_str());
    }
  }
  for (const auto& [key, value] : args) add_arg(key, value);
}

void ChromeWriter::write_instant(const Instant& instant) {
  const Track& track = trace_.tracks[instant.track];
  const bool async = is_async_[instant.track];
  begin_event(async ? 'n' : 'i', trace_.names.view(instant.name), track);
  add_time(instant.time_ns);
  if (async) {
    add_category(track.tid_text);
    add_async_id(track);
  } else {
    out_ += ",\"s\":\"t\"";
  }
  if (trace_.args_at && instant.source != kNoSource) {
    for (const auto& [key, value] : split_args(trace_.args_at(instant.source))) add_arg(key, value);
  }
  end_event();
}

void ChromeWriter::write_memory(const MemoryEvent& event) {
  begin_event('i', "[memory]", trace_.tracks[event.track]);
  add_time(event.time_ns);
  add_category("cpu_instant_event");
  out_ += ",\"s\":\"t\"";
  add_arg("Bytes", fmt::format_int(event.bytes).c_str());
  if (event.address) {
    add_arg(event.is_handle ? "Handle" : "Addr", fmt::format_int(*event.address).c_str());
  }
  if (event.total_allocated) {
    add_arg("Total Allocated", fmt::format_int(*event.total_allocated).c_str());
  }
  if (event.total_reserved) {
    add_arg("Total Reserved", fmt::format_int(*event.total_reserved).c_str());
  }
  if (event.device_index != -1) add_arg("Device Id", fmt::format_int(event.device_index).c_str());
  if (event.device != MemoryDevice::unknown) {
    add_arg("Device Type", event.device == MemoryDevice::gpu ? "1" : "0");
  }
  if (event.site != 0) {
    std::string site;
    append_json_string(site, trace_.names.view(event.site));
    add_arg("by", site);
  }
  end_event();
}

void ChromeWriter::write_counter(const Counter& counter) {
  for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
    begin_event('C', trace_.names.view(counter.name), trace_.tracks[counter.track]);
    add_time(counter.time_ns[i]);
    std::string value;
    base::JsonWriter(value).value(counter.value[i]);
    add_arg("value", value);
    end_event();
  }
}

void ChromeWriter::write_flow(const FlowPoint& point) {
  constexpr std::string_view kPhases = "stf";
  const std::string_view category = trace_.names.view(point.category);
  begin_event(kPhases[static_cast<std::size_t>(point.phase)], category, trace_.tracks[point.track]);
  add_time(point.time_ns);
  add_category(category);
  fmt::format_to(std::back_inserter(out_), ",\"id\":\"{:#x}\"", point.id);
  if (point.phase == FlowPhase::end) out_ += ",\"bp\":\"e\"";
  end_event();
}

}  // namespace

void write_chrome_json(const Trace& trace, base::Output& out) {
  ChromeWriter(trace, out).write();
}

}  // namespace fathom::trace
