#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/builder.h"
#include "trace/read/sqlite.h"

namespace fathom::trace {

// Tables whose rows are spans. A span's source is the table's number and the row's.
enum class NsysTable : std::uint8_t {
  kernel,
  memcpy,
  memset,
  synchronization,
  graph,
  runtime,
  driver,
  overhead,
  cupti_overhead,
  nvtx,
};

inline constexpr std::array<const char*, 10> kNsysTables = {
    "CUPTI_ACTIVITY_KIND_KERNEL",      "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_DRIVER",      "PROFILER_OVERHEAD",
    "CUPTI_ACTIVITY_KIND_OVERHEAD",    "NVTX_EVENTS",
};

constexpr const char* name_of(NsysTable table) {
  return kNsysTables[static_cast<std::size_t>(table)];
}

inline constexpr unsigned kNsysRowBits = 56;

// Where nsys_args finds the row again.
std::uint64_t nsys_source(NsysTable table, std::optional<std::int64_t> rowid);

// A process or thread is told by one number: the thread in its lowest 24 bits, the process above.
constexpr std::int64_t pid_of(std::int64_t global_id) {
  return global_id >> 24 & 0xFFFFFF;
}
constexpr std::int64_t tid_of(std::int64_t global_id) {
  return global_id & 0xFFFFFF;
}

// PyTorch puts the number of the call into the text of its NVTX ranges: "aten::add, seq = 3,
// op_id = 7, sizes = […]". What is before it is the operator's name; elsewhere all of it.
std::string_view without_call_number(std::string_view text);

// JSON of what the table knows about a span beyond what the Trace has.
std::string nsys_args(const SqliteDatabase& database, std::uint64_t source);

// Gathers the rows of an export. The order of the calls is that of their declarations: syncs need
// the contexts that GPU work was seen in.
class NsysReader {
 public:
  explicit NsysReader(const SqliteDatabase& database);

  void read_gpu_work();
  void read_syncs();
  void read_calls();
  void read_ranges();
  void read_memory();
  void read_metrics();
  void name_tracks();
  RunInfo run_info() const;

  TracePart take() { return std::move(part_); }

 private:
  using Columns = std::vector<std::string>;

  void visit(const std::string& table, const Columns& columns,
             const SqliteDatabase::Visitor& visitor);
  void visit_gpu(NsysTable table, const Columns& more,
                 const std::function<void(const SqliteRow&, SpanRow&)>& visitor);
  void read_calls_of(NsysTable table, SpanKind kind);
  void read_range(const SqliteRow& row);
  void draw_unfinished();

  bool read_times(const SqliteRow& row, int start, int end, SpanRow& span);
  std::int64_t correlation(std::int64_t pid, std::optional<std::int64_t> id);
  NameId name(std::optional<std::int64_t> string_id);
  std::string_view string(std::optional<std::int64_t> id) const;
  TrackId thread_track(std::int64_t global_tid);
  TrackId stream_track(std::int64_t device, std::int64_t stream, std::int64_t pid);
  std::vector<DeviceInfo> devices() const;
  std::string command() const;

  const SqliteDatabase& database_;
  TracePart part_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::unordered_map<std::int64_t, NameId> names_;  // of those strings that were used
  bool tells_processes_apart_ = false;
  std::map<std::int64_t, std::int64_t> processes_;     // pid → number in correlations
  std::map<std::int64_t, std::int64_t> device_owner_;  // device → pid seen first on it
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> devices_;  // (pid, context) →
  std::map<std::int64_t, std::string> memory_kinds_;
  std::map<std::int64_t, std::string> thread_names_;  // by global thread id
  std::vector<SpanRow> unfinished_;
  std::unordered_map<std::int64_t, TrackId> threads_;  // by global thread id
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, TrackId> streams_;
};

}  // namespace fathom::trace
