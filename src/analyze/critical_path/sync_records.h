#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.h"

namespace fathom::analyze {

// What a source with synchronisation records says about one call. Unknown is absent.
struct SyncRecord {
  std::int64_t correlation = trace::kNoCorrelation;  // of the call
  trace::SpanId span = trace::kNoSpan;
  bool is_stream_wait = false;                    // a stream was made to wait; else the host waited
  std::optional<std::int64_t> on_stream;          // where the event was recorded
  std::optional<std::int64_t> event_recorded_ns;  // when the call that recorded it began
};

// All records of the trace, by correlation.
std::vector<SyncRecord> sync_records(const trace::Trace& trace);

// The record of a correlation, or null.
const SyncRecord* find_record(const std::vector<SyncRecord>& records, std::int64_t correlation);

}  // namespace fathom::analyze
