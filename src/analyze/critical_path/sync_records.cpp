#include "analyze/critical_path/sync_records.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/json_scan.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;
using trace::SpanKind;

// Sources write -1 for what they do not know.
std::optional<std::int64_t> number(std::string_view text) {
  const std::optional<std::int64_t> value = base::integer_of(text);
  return value && *value >= 0 ? value : std::nullopt;
}

// When each call that recorded an event began, by correlation.
std::unordered_map<std::int64_t, std::int64_t> event_records(const trace::Trace& trace) {
  std::unordered_map<std::int64_t, std::int64_t> began;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != SpanKind::runtime_call) continue;
    if (trace.name(id).find("EventRecord") == std::string_view::npos) continue;
    began.emplace(trace.spans.correlation[id], trace.spans.start_ns[id]);
  }
  return began;
}

}  // namespace

std::vector<SyncRecord> sync_records(const trace::Trace& trace) {
  std::vector<SyncRecord> records;
  for (const trace::Track& track : trace.tracks) {
    if (track.kind != trace::TrackKind::gpu_stream) continue;
    for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
      if (trace.spans.kind[id] != SpanKind::sync) continue;
      if (trace.spans.correlation[id] == trace::kNoCorrelation) continue;
      records.push_back({trace.spans.correlation[id], id, false, {}, {}});
    }
  }
  if (records.empty()) return records;
  const auto recorded = event_records(trace);
  for (SyncRecord& record : records) {
    record.is_stream_wait = trace.name(record.span) == "Stream Wait Event";
    const std::string args = trace.args(record.span);
    base::for_each_member(args, base::JsonScanner::Mode::lenient,
                          [&](std::string_view key, std::string_view value) {
                            if (key == "wait_on_stream") record.on_stream = number(value);
                            if (key != "wait_on_cuda_event_record_corr_id") return;
                            const auto at = recorded.find(number(value).value_or(-1));
                            if (at != recorded.end()) record.event_recorded_ns = at->second;
                          });
  }
  std::sort(records.begin(), records.end(), [](const SyncRecord& a, const SyncRecord& b) {
    return std::tie(a.correlation, a.span) < std::tie(b.correlation, b.span);
  });
  return records;
}

const SyncRecord* find_record(const std::vector<SyncRecord>& records, std::int64_t correlation) {
  const auto at = std::lower_bound(
      records.begin(), records.end(), correlation,
      [](const SyncRecord& record, std::int64_t wanted) { return record.correlation < wanted; });
  return at != records.end() && at->correlation == correlation ? &*at : nullptr;
}

}  // namespace fathom::analyze
