#include "trace/read/chrome/rows.h"

#include <charconv>

#include "base/json_text.h"
#include "trace/read/number.h"
#include "trace/shape.h"

namespace fathom::trace {
namespace {

// False where the event does not have it, or it is no number.
inline bool read_arg(const Event& event, Arg which, std::int64_t& value) {
  const Token* token = event.arg(which);
  return token != nullptr && read_integer(token->text(), value);
}

std::optional<std::int64_t> integer_arg(const Event& event, Arg which) {
  std::int64_t value = 0;
  return read_arg(event, which, value) ? std::optional(value) : std::nullopt;
}

// "stream 7" → 7.
std::optional<std::int64_t> stream_number(std::string_view text) {
  if (!text.starts_with("stream ")) return std::nullopt;
  return parse_integer(text.substr(7));
}

// Device types as PyTorch numbers them.
MemoryDevice memory_device(std::int64_t type) {
  if (type == 0) return MemoryDevice::cpu;
  const bool is_gpu = type == 1 || type == 6 || type == 12 || type == 13 || type == 20;
  return is_gpu ? MemoryDevice::gpu : MemoryDevice::unknown;  // CUDA, HIP, XPU, MPS, private use
}

}  // namespace

void EventRows::begin_batch(Batch& batch) {
  batch_ = &batch;
  counters_.clear();
}

void EventRows::end_batch() {
  Rows& rows = batch_->rows;
  rows.spans.assign(spans_.begin(), spans_.end());
  rows.memory.assign(memory_.begin(), memory_.end());
  spans_.clear();
  memory_.clear();
  batch_ = nullptr;
}

std::int64_t EventRows::correlation(const Event& event) const {
  std::int64_t value = 0;
  return read_arg(event, Arg::correlation, value) && value > 0 ? value : kNoCorrelation;  // 0: none
}

bool EventRows::read_time(const Event& event, std::int64_t& time_ns) {
  if (event.time.is_null()) {
    warn(WarningKind::missing_time, event.source);
    return false;
  }
  const bool is_time = read_time_ns(event.time.text(), time_ns);
  if (!is_time) warn(WarningKind::bad_number, event.source);
  return is_time;
}

bool EventRows::read_duration(const Event& event, std::int64_t start_ns,
                              std::int64_t& duration_ns) {
  if (event.duration.is_null()) {
    warn(WarningKind::missing_duration, event.source);
    return false;
  }
  const bool is_time = read_time_ns(event.duration.text(), duration_ns);
  if (!is_time || duration_ns > kMaxTime - start_ns) {
    warn(WarningKind::bad_number, event.source);
    return false;
  }
  if (duration_ns < 0) {
    warn(WarningKind::negative_duration, event.source);
    return false;
  }
  return true;
}

WantedArgs EventRows::wanted_args(const Event& event) {
  switch (event.phase_letter()) {
    case 'X':
    case 'B':
    case 'b': {
      if (!event.category.is_present() || category(event).uses_args) return WantedArgs::all;
      return category(event).has_shape ? WantedArgs::shape : WantedArgs::none;
    }
    case 'i':
    case 'I': {
      const bool may_be_memory = !event.name.is_present() || event.name.text() == "[memory]";
      return may_be_memory ? WantedArgs::all : WantedArgs::none;
    }
    case 'E':
    case 'e':
    case 's':
    case 't':
    case 'f':
      return WantedArgs::none;
    default:
      return WantedArgs::all;
  }
}

void EventRows::take(const Event& event) {
  ++batch_->events;
  switch (event.phase_letter()) {
    case 'X':
      return take_complete(event);
    case 'B':
      return take_edge(event, true, track(event, false));
    case 'E':
      return take_edge(event, false, track(event, false));
    case 'b':
    case 'S':
      return take_edge(event, true, async_track(event));
    case 'e':
    case 'F':
      return take_edge(event, false, async_track(event));
    case 'n':
      return take_instant(event, async_track(event));
    case 'i':
    case 'I':
    case 'R':
      return take_instant(event, track(event, false));
    case 'C':
      return take_counter(event);
    case 's':
      return take_flow(event, FlowPhase::begin);
    case 't':
      return take_flow(event, FlowPhase::step);
    case 'f':
      return take_flow(event, FlowPhase::end);
    case 'M':
      return take_metadata(event);
    case '\0':
      return warn(WarningKind::bad_event, event.source);
    default:
      return;  // object snapshots, samples, memory dumps: nothing that a Trace holds
  }
}

void EventRows::take_complete(const Event& event) {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  if (!read_time(event, start_ns)) return;
  if (!read_duration(event, start_ns, duration_ns)) return;
  const Category& what = category(event);
  const KnownName& known = name(event.name, event.source);
  SpanRow& row = spans_.emplace_back();  // filled in its place: a copy would wait for the stores
  row.start_ns = start_ns;
  row.duration_ns = duration_ns;
  row.kind = what.kind;
  if (!event.category.is_present() && event.pid.is_present() &&
      event.pid.text() == "CPU functions") {
    row.kind = SpanKind::cpu_op;  // as torch without Kineto writes it
  }
  if (known.is_step && row.kind == SpanKind::cpu_op) row.kind = SpanKind::annotation;
  row.name = known.id;
  row.source = event.source;
  const bool on_gpu =
      what.on_gpu || (what.kind == SpanKind::sync && event.arg(Arg::stream) != nullptr);
  row.track = track(event, on_gpu);
  if (!on_gpu) note_kind(row.track, row.kind);
  if (what.uses_args) {
    row.correlation = correlation(event);
    if (on_gpu) note_stream(event, row.track);
    if (is_gpu_work(what.kind)) {
      std::int64_t bytes = 0;
      if (read_arg(event, Arg::bytes, bytes)) {
        batch_->rows.bytes.push_back({static_cast<SpanId>(spans_.size() - 1), bytes});
      }
    }
  }
  if (what.has_shape) row.shape = shape(event, what.kind);
}

// 0 where the event does not say it.
NameId EventRows::shape(const Event& event, SpanKind kind) {
  scratch_.clear();
  if (kind == SpanKind::kernel) {
    const Token* grid = event.arg(Arg::grid);
    const Token* block = event.arg(Arg::block);
    if (grid != nullptr) {
      append_launch(scratch_, grid->text(), block != nullptr ? block->text() : "");
    }
  } else if (const Token* operands = event.arg(Arg::operand_shapes)) {
    append_shapes(scratch_, operands->text());
  }
  return part_.names.intern(scratch_);
}

void EventRows::note_kind(TrackId track, SpanKind kind) {
  if (kind == SpanKind::other || kind == SpanKind::sync) return;
  if (is_thread_.size() <= track) is_thread_.resize(part_.tracks.size());
  is_thread_[track] = true;
}

void EventRows::note_stream(const Event& event, TrackId id) {
  Track& track = part_.tracks[id];
  if (!track.device) {
    track.device = integer_arg(event, Arg::device);
    if (!track.device && track.pid_text.empty()) track.device = track.pid;
  }
  if (track.stream) return;
  track.stream = integer_arg(event, Arg::stream);
  if (!track.stream) {
    track.stream = track.tid_text.empty() ? track.tid : stream_number(track.tid_text);
  }
  // Waiting for the whole device is on no stream.
  if (track.stream && *track.stream < 0) track.stream.reset();
}

void EventRows::take_edge(const Event& event, bool is_begin, TrackId track) {
  EdgeRow row;
  if (!read_time(event, row.time_ns)) return;
  const Category& what = category(event);
  row.is_begin = is_begin;
  row.kind = what.kind;
  row.name = name(event.name, event.source).id;
  row.source = event.source;
  row.track = track;
  note_kind(track, row.kind);
  if (what.uses_args) row.correlation = correlation(event);
  if (what.has_shape) row.shape = shape(event, what.kind);
  batch_->edges.push_back(row);
}

void EventRows::take_instant(const Event& event, TrackId track) {
  Instant row;
  if (!read_time(event, row.time_ns)) return;
  if (event.name.text() == "[memory]") {
    if (take_memory(event, row.time_ns, track)) return;
    warn(WarningKind::bad_number, event.source);
  }
  row.name = name(event.name, event.source).id;
  row.source = event.source;
  row.track = track;
  batch_->rows.instants.push_back(row);
}

bool EventRows::take_memory(const Event& event, std::int64_t time_ns, TrackId track) {
  std::int64_t number = 0;
  if (!read_arg(event, Arg::memory_bytes, number)) return false;
  MemoryEvent& row = memory_.emplace_back();
  row.time_ns = time_ns;
  row.bytes = number;
  row.track = track;
  const Token* const handle = event.arg(Arg::handle);
  row.is_handle = handle != nullptr;
  if (const Token* address = row.is_handle ? handle : event.arg(Arg::address)) {
    row.address = parse_unsigned(address->text());
  }
  if (const Token* site = event.arg(Arg::site)) row.site = name(*site, event.source).id;
  if (read_arg(event, Arg::total_allocated, number)) row.total_allocated = number;
  if (read_arg(event, Arg::total_reserved, number)) row.total_reserved = number;
  if (read_arg(event, Arg::device_type, number)) row.device = memory_device(number);
  if (read_arg(event, Arg::device_id, number) && number >= -1 && number <= INT32_MAX) {
    row.device_index = static_cast<std::int32_t>(number);
  }
  return true;
}

// Each argument is a series of its own: "name" where it is called "value" or as the counter itself,
// else "name.argument".
void EventRows::take_counter(const Event& event) {
  std::int64_t time_ns = 0;
  if (!read_time(event, time_ns)) return;
  const TrackId on = track(event, false);
  const NameId counter_name = name(event.name, event.source).id;
  for (const auto& [key, value] : event.series) {
    double number = 0;
    const char* const end = value.text().data() + value.text().size();
    const auto [stop, error] = std::from_chars(value.text().data(), end, number);
    if (error != std::errc() || stop != end) continue;
    NameId id = counter_name;
    if (const std::string series = text(key, event.source);
        series != "value" && series != part_.names.view(counter_name)) {
      id = part_.names.intern(std::string(part_.names.view(counter_name)) + "." + series);
    }
    std::vector<Counter>& counters = batch_->rows.counters;
    const std::uint64_t place = std::uint64_t{on} << 32 | id;
    const auto [at, is_new] = counters_.try_emplace(place, counters.size());
    if (is_new) counters.push_back({id, on, {}, {}});
    counters[at->second].time_ns.push_back(time_ns);
    counters[at->second].value.push_back(number);
  }
}

void EventRows::take_flow(const Event& event, FlowPhase phase) {
  if (category(event).is_launch_flow) return;
  FlowPoint row;
  if (!read_time(event, row.time_ns)) return;
  row.id = event.id.is_present() ? parse_id(event.id.text()) : 0;
  row.category = name(event.category.is_present() ? event.category : event.name, event.source).id;
  row.track = track(event, false);
  row.phase = phase;
  batch_->rows.flows.push_back(row);
}

void EventRows::take_metadata(const Event& event) {
  LabelRow row;
  const Token* value = event.arg(Arg::name);
  if (event.name.text() == "process_name") {
    row.kind = LabelKind::process_name;
  } else if (event.name.text() == "thread_name") {
    row.kind = LabelKind::thread_name;
  } else if (event.name.text() == "process_labels") {
    row.kind = LabelKind::process_labels;
    value = event.arg(Arg::labels);
  } else {
    return;
  }
  if (value == nullptr) return;
  row.text = text(*value, event.source);
  row.pid = place(event.pid, event.source);
  row.tid = place(event.tid, event.source);
  batch_->labels.push_back(std::move(row));
}

}  // namespace fathom::trace
