// What an export says of the CPU: calls of the CUDA runtime and driver, NVTX ranges, and the
// profiler's own work.

#include <algorithm>
#include <cctype>

#include "trace/read/nsys/reader.h"
#include "trace/read/number.h"

namespace fathom::trace {
namespace {

// How NVTX_EVENTS numbers what a row is: ranges, marks and names, from the program and from text
// files of events.
enum class NvtxType : std::uint8_t {
  mark = 34,
  thread_name = 39,
  push_pop = 59,
  start_end = 60,
  file_mark = 65,
  file_push_pop = 70,
  file_start_end = 71,
};

enum NvtxColumn : std::uint8_t {
  kNvtxRow,
  kNvtxStart,
  kNvtxEnd,
  kNvtxType,
  kNvtxText,
  kNvtxTextId,
  kNvtxThread
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The version of the interface at the end of a function's name: "cudaLaunchKernel_v7000".
std::string_view without_version(std::string_view name) {
  constexpr std::size_t kFewestDigits = 4;  // "_v2" belongs to the name
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[name.size() - 1 - digits])) ++digits;
  const std::string_view before = name.substr(0, name.size() - digits);
  const bool has_version = digits >= kFewestDigits && before.ends_with("_v");
  return has_version ? before.substr(0, before.size() - 2) : name;
}

}  // namespace

std::string_view without_call_number(std::string_view text) {
  for (const std::string_view mark : {", seq = ", ", op_id = "}) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view after = text.substr(at + mark.size());
    if (!after.empty() && is_digit(after[0])) return text.substr(0, at);
  }
  return text;
}

void NsysReader::read_calls() {
  read_calls_of(NsysTable::runtime, SpanKind::runtime_call);
  read_calls_of(NsysTable::driver, SpanKind::runtime_call);
  read_calls_of(NsysTable::overhead, SpanKind::overhead);
  read_calls_of(NsysTable::cupti_overhead, SpanKind::overhead);
}

void NsysReader::read_calls_of(NsysTable table, SpanKind kind) {
  enum Column : std::uint8_t { kRowId, kFrom, kTo, kCaller, kId, kName, kOverheadType };
  constexpr std::int64_t kCommandBufferFull = 8;  // of CUPTI
  std::unordered_map<std::int64_t, NameId> names;
  visit(name_of(table),
        {"rowid", "start", "end", "globalTid", "correlationId", "nameId", "overheadType"},
        [&](const SqliteRow& row) {
          SpanRow span;
          if (!read_times(row, kFrom, kTo, span)) return;
          const std::int64_t thread = row.integer(kCaller).value_or(0);
          const std::int64_t id = row.integer(kName).value_or(-1);
          const auto [at, is_new] = names.try_emplace(id, 0);
          if (is_new) at->second = part_.names.intern(without_version(string(id)));
          span.kind = kind;
          span.name = at->second;
          // That is what matters of it (queue_waits.cpp), whatever its name.
          if (row.integer(kOverheadType) == kCommandBufferFull) {
            span.name = part_.names.intern("Command Buffer Full");
          }
          span.track = thread_track(thread);
          span.correlation = correlation(pid_of(thread), row.integer(kId));
          span.source = nsys_source(table, row.integer(kRowId));
          part_.spans.push_back(span);
        });
}

void NsysReader::read_ranges() {
  visit(name_of(NsysTable::nvtx),
        {"rowid", "start", "end", "eventType", "text", "textId", "globalTid"},
        [&](const SqliteRow& row) { read_range(row); });
  draw_unfinished();
}

void NsysReader::read_range(const SqliteRow& row) {
  const std::int64_t thread = row.integer(kNvtxThread).value_or(0);
  const std::string_view text =
      row.is_null(kNvtxText) ? string(row.integer(kNvtxTextId)) : row.text(kNvtxText);
  // Exports without the column have ranges alone.
  const auto type = static_cast<NvtxType>(
      row.integer(kNvtxType).value_or(static_cast<std::int64_t>(NvtxType::push_pop)));
  SpanRow span;
  span.source = nsys_source(NsysTable::nvtx, row.integer(kNvtxRow));
  switch (type) {
    case NvtxType::thread_name:
      thread_names_[thread] = text;
      return;
    case NvtxType::mark:
    case NvtxType::file_mark: {
      const auto time = row.integer(kNvtxStart);
      if (!time || *time < -kMaxTime || *time > kMaxTime) break;
      part_.instants.push_back(
          {*time, span.source, part_.names.intern(text), thread_track(thread)});
      return;
    }
    case NvtxType::push_pop:
    case NvtxType::file_push_pop:
      span.track = thread_track(thread);
      break;
    case NvtxType::start_end:
    case NvtxType::file_start_end:
      // These may end on another thread and need not nest: a row of their own.
      span.track = part_.track(TrackKind::async, pid_of(thread), tid_of(thread), {}, "NVTX ranges");
      break;
    default:
      return;  // categories, domains and names of other things
  }
  const std::string_view operation = without_call_number(text);
  span.kind = operation.size() < text.size() ? SpanKind::cpu_op : SpanKind::annotation;
  span.name = part_.names.intern(operation);
  const auto start = row.integer(kNvtxStart);
  if (row.is_null(kNvtxEnd) && start && *start >= -kMaxTime && *start <= kMaxTime) {
    span.start_ns = *start;
    unfinished_.push_back(span);
  } else if (read_times(row, kNvtxStart, kNvtxEnd, span)) {
    part_.spans.push_back(span);
  }
}

void NsysReader::draw_unfinished() {
  std::int64_t end = INT64_MIN;
  for (const SpanRow& span : part_.spans) end = std::max(end, span.start_ns + span.duration_ns);
  for (SpanRow& span : unfinished_) {
    span.kind = SpanKind::unfinished;
    span.duration_ns = std::max<std::int64_t>(0, end - span.start_ns);
    part_.spans.push_back(span);
    part_.warnings.add(WarningKind::unmatched_begin, kNowhere);
  }
  unfinished_.clear();
}

}  // namespace fathom::trace
