#include "trace/read/profile/profile_json.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/figure_fields.h"
#include "base/json_scan.h"
#include "base/json_writer.h"
#include "trace/builder.h"
#include "trace/read/number.h"

namespace fathom::trace {
namespace {

using Mode = base::JsonScanner::Mode;

constexpr std::int64_t kUnixTimesFrom = 100'000'000'000'000'000;  // ns; 1973, if it is one

bool is_string(std::string_view value) {
  return value.starts_with('"');
}

std::string_view inside_quotes(std::string_view value) {
  return is_string(value) ? value.substr(1, value.size() - 2) : value;
}

bool is_unknown(std::string_view value) {
  return value == "null" || value == "NaN" || value == "nan" || value.ends_with("Infinity");
}

bool should_be_number(std::string_view key) {
  return key.ends_with("_ms") || key.ends_with("_mb") || key.ends_with("_gb_s") ||
         key.ends_with("_time") || key.ends_with("utilization") || key.ends_with("_count");
}

struct EntryFields {
  std::string_view operation;
  std::string_view thread;
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
  std::optional<std::int64_t> duration_ns;
};

std::optional<std::int64_t> within_limits(std::optional<std::int64_t> ns) {
  return ns && *ns > -kMaxTime && *ns < kMaxTime ? ns : std::nullopt;
}

// Seconds, with as many digits as there are; or whole nanoseconds, as no time in seconds is so
// large.
std::optional<std::int64_t> time_of(std::string_view value) {
  const auto whole = base::integer_of(value);
  const bool is_ns = whole && (*whole >= kUnixTimesFrom || *whole <= -kUnixTimesFrom);
  return within_limits(is_ns ? whole : parse_scaled(value, 9));
}

class ProfileReader {
 public:
  ProfileReader(std::string_view bytes) : bytes_(bytes), scan_(bytes, Mode::lenient) {}

  Trace read(std::shared_ptr<const void> owner);

 private:
  void read_document();
  void read_entries();
  bool find_next_entry();
  void read_entry(std::string_view text);
  void add_span(const EntryFields& entry, std::uint64_t source);
  TrackId track_of(std::string_view thread);
  void read_run(std::string_view text);
  void read_summary(std::string_view text);
  void add_operation(std::string operation, std::string_view text);
  void stop_at_fault();
  std::uint64_t offset_of(std::string_view text) const {
    return static_cast<std::uint64_t>(text.data() - bytes_.data());
  }

  std::string_view bytes_;
  base::JsonScanner scan_;
  TracePart part_;
  RunInfo run_;
  std::vector<NamedFigures> operations_;
  std::unordered_map<std::string, TrackId> tracks_;  // by the thread's text
  std::vector<std::int64_t> ends_;                   // by track: where an entry without times goes
};

Trace ProfileReader::read(std::shared_ptr<const void> owner) {
  read_document();
  run_.format = "profile JSON";
  std::vector<TracePart> parts;
  const bool is_unix = !part_.spans.empty() && part_.spans.front().start_ns >= kUnixTimesFrom;
  if (is_unix && !run_.base_time_ns) run_.base_time_ns = 0;
  parts.push_back(std::move(part_));
  Trace trace = assemble(std::move(parts), std::move(run_));
  trace.operations = std::move(operations_);
  trace.args_at = [bytes = bytes_, owner = std::move(owner)](std::uint64_t source) {
    std::string out;
    base::JsonScanner scan(bytes, Mode::lenient, source);
    const auto text = scan.value();
    base::JsonWriter json(out);
    json.begin_object();
    if (text) {
      base::for_each_member(*text, Mode::lenient,
                            [&](std::string_view key, std::string_view value) {
                              json.key(base::unescaped(key));
                              base::is_json(value) ? json.raw(value) : json.null();
                            });
    }
    json.end_object();
    return out;
  };
  return trace;
}

void ProfileReader::stop_at_fault() {
  part_.warnings.add(scan_.is_cut_off() ? WarningKind::cut_off : WarningKind::bad_event,
                     scan_.position());
}

void ProfileReader::read_document() {
  if (scan_.peek() == '\xEF')
    scan_ = base::JsonScanner(bytes_, Mode::lenient, 3);  // byte order mark
  if (scan_.peek() == '[') return read_entries();
  if (!scan_.take('{')) return stop_at_fault();
  if (scan_.take('}')) return;
  do {
    const auto key = scan_.key();
    if (!key) return stop_at_fault();
    if (*key == "entries" && scan_.peek() == '[') {
      read_entries();
      continue;
    }
    const auto value = scan_.value();
    if (!value) return stop_at_fault();
    if (*key == "run") read_run(*value);
    if (*key == "summary") read_summary(*value);
  } while (scan_.take(','));
  if (!scan_.take('}')) stop_at_fault();
}

void ProfileReader::read_entries() {
  scan_.take('[');
  if (scan_.take(']')) return;
  while (true) {
    const auto entry = scan_.value();
    if (entry) {
      read_entry(*entry);
      if (scan_.take(']')) return;
      if (scan_.take(',')) continue;
    }
    if (scan_.is_cut_off()) return;  // the document will find that it is cut off
    part_.warnings.add(WarningKind::bad_event, scan_.position());
    if (!find_next_entry()) return;
  }
}

// After damage: goes to what looks like the start of another entry.
bool ProfileReader::find_next_entry() {
  const std::size_t key = bytes_.find("\"operation\"", scan_.position());
  if (key == std::string_view::npos) {
    scan_ = base::JsonScanner(bytes_, Mode::lenient, bytes_.size());
    return false;
  }
  const std::size_t brace = bytes_.rfind('{', key);
  const bool is_ahead = brace != std::string_view::npos && brace >= scan_.position();
  scan_ = base::JsonScanner(bytes_, Mode::lenient, is_ahead ? brace : key + 1);
  return true;
}

void ProfileReader::read_entry(std::string_view text) {
  const std::uint64_t source = offset_of(text);
  if (!text.starts_with('{')) {
    part_.warnings.add(text == "null" ? WarningKind::null_event : WarningKind::bad_event, source);
    return;
  }
  EntryFields entry;
  base::for_each_member(text, Mode::lenient, [&](std::string_view key, std::string_view value) {
    if (is_unknown(value)) return;
    const bool is_wrong = should_be_number(key) ? is_string(value) || !base::real_of(value)
                                                : key == "operation" && !is_string(value);
    if (is_wrong) part_.warnings.add(WarningKind::unknown_field_type, offset_of(value));
    // A number in quotes is still one.
    const std::string_view inside = inside_quotes(value);
    if (key == "operation") entry.operation = inside;
    if (key == "thread") entry.thread = inside;
    if (key == "start_time") entry.start_ns = time_of(inside);
    if (key == "end_time") entry.end_ns = time_of(inside);
    if (key == "duration_ms") entry.duration_ns = within_limits(parse_scaled(inside, 6));
  });
  add_span(entry, source);
}

void ProfileReader::add_span(const EntryFields& entry, std::uint64_t source) {
  SpanRow row;
  row.kind = SpanKind::scope;
  row.source = source;
  row.name = part_.names.intern(base::unescaped(entry.operation));
  row.track = track_of(entry.thread);
  if (!entry.duration_ns && !(entry.start_ns && entry.end_ns)) {
    part_.warnings.add(WarningKind::missing_duration, source);
    return;
  }
  std::int64_t& end = ends_[row.track];
  const std::int64_t duration = entry.duration_ns.value_or(0);
  // Without times of their own, entries follow each other.
  row.start_ns = entry.start_ns ? *entry.start_ns : entry.end_ns ? *entry.end_ns - duration : end;
  row.duration_ns = entry.start_ns && entry.end_ns ? *entry.end_ns - *entry.start_ns : duration;
  const std::int64_t room = kMaxTime - row.start_ns;
  if (row.duration_ns < 0 || row.duration_ns > room) {
    part_.warnings.add(WarningKind::negative_duration, source);
    return;
  }
  end = std::max(end, row.start_ns + row.duration_ns);
  part_.spans.push_back(row);
}

TrackId ProfileReader::track_of(std::string_view thread) {
  const auto [at, is_new] = tracks_.try_emplace(std::string(thread), 0);
  if (!is_new) return at->second;
  if (const auto number = base::integer_of(thread)) {
    at->second = part_.track(TrackKind::thread, 0, *number);
  } else {
    at->second = part_.track(TrackKind::thread, 0, 0, {}, base::unescaped(thread));
  }
  ends_.resize(part_.tracks.size(), 0);
  return at->second;
}

void ProfileReader::read_run(std::string_view text) {
  base::for_each_member(text, Mode::lenient, [&](std::string_view key, std::string_view value) {
    const auto read_text = [&](std::string& to) {
      if (is_string(value)) to = base::unescaped(inside_quotes(value));
    };
    if (key == "command") read_text(run_.command);
    if (key == "title") read_text(run_.title);
    if (key == "rank") run_.rank = base::integer_of(value);
    if (key == "world_size") run_.world_size = base::integer_of(value);
    if (key == "base_time_ns") run_.base_time_ns = base::integer_of(value);
    if (key == "dropped_entries" || key == "dropped_spans")
      run_.dropped_spans = base::integer_of(value);
  });
}

// {operation: figures}, or a list of figures that name their operation.
void ProfileReader::read_summary(std::string_view text) {
  if (text.starts_with('{')) {
    base::for_each_member(text, Mode::lenient, [&](std::string_view key, std::string_view value) {
      add_operation(base::unescaped(key), value);
    });
    return;
  }
  base::JsonScanner list(text, Mode::lenient);
  if (!list.take('[')) return;
  do {
    const auto value = list.value();
    if (!value) return;
    add_operation({}, *value);
  } while (list.take(','));
}

void ProfileReader::add_operation(std::string operation, std::string_view text) {
  NamedFigures figures;
  figures.operation = std::move(operation);
  std::optional<double> mean_ns;
  const bool is_object =
      base::for_each_member(text, Mode::lenient, [&](std::string_view key, std::string_view value) {
        if (is_unknown(value)) return;
        if (key == "operation" && is_string(value)) {
          figures.operation = base::unescaped(inside_quotes(value));
          return;
        }
        const auto number = base::real_of(inside_quotes(value));
        if (should_be_number(key) && (is_string(value) || !number)) {
          part_.warnings.add(WarningKind::unknown_field_type, offset_of(value));
        }
        if (!number) return;
        if (key == "avg_time_ms") mean_ns = *number * kNsPerMs;
        const base::OperationField* const field = base::find_operation_field(key);
        if (field != nullptr && field->set != nullptr) {
          field->set(figures, *number * base::size_of(field->unit));
        }
      });
  if (!is_object) {
    part_.warnings.add(WarningKind::unknown_field_type, offset_of(text));
    return;
  }
  if (!figures.total_ns && mean_ns) {
    figures.total_ns = *mean_ns * static_cast<double>(figures.calls);
  }
  operations_.push_back(std::move(figures));
}

}  // namespace

Trace read_profile_json(std::string_view bytes, std::shared_ptr<const void> owner) {
  return ProfileReader(bytes).read(std::move(owner));
}

}  // namespace fathom::trace
