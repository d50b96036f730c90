#include <algorithm>
#include <utility>

#include "base/json_scan.h"
#include "monitor/alert_words.h"
#include "monitor/config_fields.h"
#include "monitor/device_identity.h"
#include "monitor/reading_fields.h"
#include "monitor/session_lines.h"

namespace fathom::monitor {
namespace {

using base::JsonScanner;
using base::text_of;

constexpr std::size_t kMostDevicesOfFile = 65'536;

std::uint64_t count_of(std::string_view value) {
  const auto number = base::integer_of(value);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

// The elements of an array's text, as written; nothing where it is not one.
std::optional<std::vector<std::string_view>> elements_of(std::string_view array) {
  std::vector<std::string_view> all;
  JsonScanner scan(array);
  if (!scan.take('[')) return {};
  if (scan.take(']')) return all;
  do {
    const auto value = scan.value();
    if (!value) return {};
    all.push_back(*value);
  } while (scan.take(','));
  if (!scan.take(']')) return {};
  return all;
}

template <typename Each>
bool each_member(std::string_view object, Each each) {
  return base::for_each_member(object, JsonScanner::Mode::strict, each);
}

void read_config(std::string_view object, MonitorConfig& config) {
  each_member(object, [&](std::string_view key, std::string_view value) {
    const auto field = std::ranges::find(config_fields(), key, &ConfigField::name);
    // What a later version may write and we do not know stays as it is.
    if (field != config_fields().end()) {
      set_field(config, *field, text_of(value).value_or(std::string(value)));
    }
  });
}

void read_figures(std::string_view object, InferenceFigures& figures) {
  each_member(object, [&](std::string_view key, std::string_view value) {
    if (key == "count") figures.count = count_of(value);
    if (key == "sum_ms") figures.sum_ms = base::real_of(value).value_or(0);
    if (key == "mean_ms") figures.mean_ms = base::real_of(value);
    if (key == "min_ms") figures.min_ms = base::real_of(value);
    if (key == "max_ms") figures.max_ms = base::real_of(value);
    if (key == "p50_ms") figures.p50_ms = base::real_of(value);
    if (key == "p95_ms") figures.p95_ms = base::real_of(value);
    if (key == "p99_ms") figures.p99_ms = base::real_of(value);
  });
}

template <typename Enum>
void read_name(std::string_view value, std::size_t names, Enum& into) {
  const auto text = text_of(value);
  for (std::size_t i = 0; text && i < names; ++i) {
    if (name_of(static_cast<Enum>(i)) == *text) into = static_cast<Enum>(i);
  }
}

// The one member of a line's object, which says what the line is.
struct LineKind {
  std::string key;
  std::string_view value;
};
std::optional<LineKind> kind_of_line(std::string_view line) {
  std::optional<LineKind> kind;
  const bool is_whole = each_member(line, [&](std::string_view key, std::string_view value) {
    if (!kind) kind = LineKind{std::string(key), value};
  });
  return is_whole ? kind : std::nullopt;
}

}  // namespace

bool LineReader::take(std::string_view line) {
  const auto kind = kind_of_line(line);
  if (!kind) return false;
  if (kind->key == "session") return take_start(kind->value);
  if (kind->key == "device") return take_device(kind->value);
  if (kind->key == "time_ns") return take_sample(line);
  if (kind->key == "alert") return take_alert(kind->value);
  if (kind->key == "inference") return take_inference(kind->value);
  if (kind->key == "end") return take_end(kind->value);
  return true;  // of a later version
}

std::optional<MonitorSession> read_start(std::string_view line) {
  const auto kind = kind_of_line(line);
  if (!kind || kind->key != "session") return {};
  MonitorSession session;
  const bool is_whole = each_member(kind->value, [&](std::string_view key, std::string_view value) {
    if (key == "id") session.id = text_of(value).value_or("");
    if (key == "name") session.name = text_of(value).value_or("");
    if (key == "description") session.description = text_of(value).value_or("");
    if (key == "started_ns") session.started_ns = base::integer_of(value).value_or(0);
    if (key == "config") read_config(value, session.config);
  });
  return is_whole ? std::optional(std::move(session)) : std::nullopt;
}

bool LineReader::take_start(std::string_view object) {
  auto session = read_start("{\"session\":" + std::string(object) + "}");
  if (!session || record) return false;
  fields_.clear();
  each_member(object, [&](std::string_view key, std::string_view value) {
    if (key != "fields") return;
    for (const std::string_view name :
         elements_of(value).value_or(std::vector<std::string_view>())) {
      fields_.push_back(reading_field(text_of(name).value_or("")));
    }
  });
  record.emplace(std::move(*session));
  return true;
}

// Where the first line is lost, the names of the fields are, too: they are taken to be ours.
SessionRecord& LineReader::ready(std::int64_t time_ns) {
  if (!record) {
    MonitorSession session;
    session.id = id_if_unknown;
    session.name = "(its beginning is lost)";
    session.started_ns = time_ns;
    record.emplace(std::move(session));
    for (std::size_t i = 0; i < reading_fields().size(); ++i) fields_.push_back(i);
  }
  return *record;
}

bool LineReader::take_device(std::string_view object) {
  GpuDevice device;
  std::optional<std::int64_t> id;
  const bool is_whole = each_member(object, [&](std::string_view key, std::string_view value) {
    if (key == "id") id = base::integer_of(value);
    if (key == "index") device.index = static_cast<unsigned>(count_of(value));
    if (key == "memory_total_bytes") device.memory_total_bytes = base::integer_of(value);
    for (const IdentityText& each : kIdentityTexts) {
      if (key == each.name) device.*each.member = text_of(value).value_or("");
    }
    for (const IdentityNumber& each : kIdentityNumbers) {
      if (key == each.name) device.*each.member = base::real_of(value);
    }
  });
  if (!is_whole || !id || *id < 0 || *id >= static_cast<std::int64_t>(kMostDevicesOfFile))
    return false;
  const auto place = static_cast<std::size_t>(*id);
  if (devices_.size() <= place) devices_.resize(place + 1);
  devices_[place] = std::move(device);
  return true;
}

bool LineReader::take_sample(std::string_view line) {
  Snapshot snapshot;
  std::vector<std::size_t> ids;
  bool is_good = true;
  each_member(line, [&](std::string_view key, std::string_view value) {
    if (key == "time_ns") snapshot.time_ns = base::integer_of(value).value_or(0);
    if (key == "trigger") snapshot.trigger = text_of(value).value_or("");
    if (key != "devices") return;
    ready(snapshot.time_ns);
    for (const std::string_view row :
         elements_of(value).value_or(std::vector<std::string_view>())) {
      const auto cells = elements_of(row);
      const std::size_t id = cells && cells->size() >= 3 ? count_of((*cells)[0]) : devices_.size();
      if (id >= devices_.size() || !devices_[id]) {
        is_good = false;
        continue;
      }
      GpuDevice device = *devices_[id];
      device.state = static_cast<DeviceState>(std::min<std::uint64_t>(count_of((*cells)[1]), 3));
      device.age_seconds = base::real_of((*cells)[2]);
      for (std::size_t i = 0; i < fields_.size() && i + 3 < cells->size(); ++i) {
        const auto number = base::real_of((*cells)[i + 3]);
        if (number && fields_[i] < reading_fields().size()) {
          reading_fields()[fields_[i]].set(device.now, *number);
        }
      }
      snapshot.devices.push_back(std::move(device));
    }
  });
  ready(snapshot.time_ns).take(snapshot);
  return is_good;
}

bool LineReader::take_alert(std::string_view object) {
  Alert alert;
  each_member(object, [&](std::string_view key, std::string_view value) {
    if (key == "id") alert.id = count_of(value);
    if (key == "kind") read_name(value, 8, alert.kind);
    if (key == "severity") read_name(value, 2, alert.severity);
    if (key == "uuid") alert.uuid = text_of(value).value_or("");
    if (key == "device") alert.device = text_of(value).value_or("");
    if (key == "raised_ns") alert.raised_ns = base::integer_of(value).value_or(0);
    if (key == "cleared_ns") alert.cleared_ns = base::integer_of(value);
    if (key == "value") alert.value = base::real_of(value);
    if (key == "limit") alert.limit = base::real_of(value);
    if (key == "message") alert.message = text_of(value).value_or("");
    if (key == "cause") alert.cause = text_of(value).value_or("");
  });
  ready(alert.raised_ns).take(alert);
  return true;
}

bool LineReader::take_inference(std::string_view object) {
  InferenceStats::Part part;
  each_member(object, [&](std::string_view key, std::string_view value) {
    if (key == "count") part.count = count_of(value);
    if (key == "sum_ns") part.sum_ns = base::integer_of(value).value_or(0);
    if (key == "min_ns") part.min_ns = base::integer_of(value).value_or(0);
    if (key == "max_ns") part.max_ns = base::integer_of(value).value_or(0);
    if (key == "sketch") {
      for (const std::string_view pair :
           elements_of(value).value_or(std::vector<std::string_view>())) {
        const auto two = elements_of(pair);
        if (two && two->size() == 2) part.sketch[count_of((*two)[0])] = count_of((*two)[1]);
      }
    }
    if (key == "buckets") {
      for (const std::string_view count :
           elements_of(value).value_or(std::vector<std::string_view>())) {
        part.buckets.push_back(count_of(count));
      }
    }
  });
  ready(0).take(part);
  return true;
}

bool read_end(std::string_view line, MonitorSession& into) {
  const auto kind = kind_of_line(line);
  if (!kind || kind->key != "end") return false;
  return each_member(kind->value, [&](std::string_view key, std::string_view value) {
    if (key == "stopped_ns") into.stopped_ns = base::integer_of(value);
    if (key == "was_interrupted") into.was_interrupted = value == "true";
    if (key == "snapshots") into.snapshots = count_of(value);
    if (key == "alerts") into.alerts = count_of(value);
    if (key == "inference") read_figures(value, into.inference);
  });
}

bool LineReader::take_end(std::string_view object) {
  MonitorSession end;
  if (!read_end("{\"end\":" + std::string(object) + "}", end)) return false;
  MonitorSession& session = ready(end.stopped_ns.value_or(0)).settings();
  session.stopped_ns = end.stopped_ns;
  session.was_interrupted = end.was_interrupted;
  has_end = true;
  return true;
}

}  // namespace fathom::monitor
