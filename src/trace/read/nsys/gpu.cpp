// What an export says of the GPUs: kernels, copies, fills, waiting, memory and metrics.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trace/read/nsys/reader.h"
#include "trace/read/number.h"
#include "trace/shape.h"

namespace fathom::trace {
namespace {

constexpr std::int64_t kNoStream = UINT32_MAX;

// As CUPTI numbers them and Kineto calls them.
constexpr std::array kCopyKinds = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                   "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array kSyncTypes = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                   "Context Sync"};

template <typename Names>
const char* named(const Names& names, std::optional<std::int64_t> id) {
  const bool is_known = id && *id > 0 && static_cast<std::size_t>(*id) < names.size();
  return names[is_known ? static_cast<std::size_t>(*id) : 0];
}

// Columns that tables of GPU work have in common, and where visit_gpu puts them.
enum GpuColumn : std::uint8_t {
  kRow,
  kStart,
  kEnd,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kPid
};
constexpr int kMore = kPid + 1;

enum class MemoryOperation : std::uint8_t { allocation, release };

MemoryDevice device_of(const std::string& memory_kind) {
  if (memory_kind == "Pageable" || memory_kind == "Pinned") return MemoryDevice::cpu;
  if (memory_kind.starts_with("Managed") || memory_kind == "Unknown") return MemoryDevice::unknown;
  return MemoryDevice::gpu;
}

}  // namespace

void NsysReader::visit_gpu(NsysTable table, const Columns& more,
                           const std::function<void(const SqliteRow&, SpanRow&)>& visitor) {
  Columns columns = {"rowid",     "start",    "end",           "deviceId",
                     "contextId", "streamId", "correlationId", "globalPid"};
  columns.insert(columns.end(), more.begin(), more.end());
  visit(name_of(table), columns, [&](const SqliteRow& row) {
    SpanRow span;
    if (!read_times(row, kStart, kEnd, span)) return;
    const std::int64_t pid = pid_of(row.integer(kPid).value_or(0));
    const auto context = std::make_pair(pid, row.integer(kContext).value_or(-1));
    std::int64_t device = row.integer(kDevice).value_or(0);
    if (table == NsysTable::synchronization) {
      // These name device 0, whatever the device was; their context is right.
      const auto known = devices_.find(context);
      if (known != devices_.end()) device = known->second;
    } else {
      devices_.try_emplace(context, device);
    }
    span.source = nsys_source(table, row.integer(kRow));
    span.correlation = correlation(pid, row.integer(kCorrelation));
    span.track = stream_track(device, row.integer(kStream).value_or(kNoStream), pid);
    visitor(row, span);
    part_.spans.push_back(span);
  });
}

TrackId NsysReader::stream_track(std::int64_t device, std::int64_t stream, std::int64_t pid) {
  const auto [at, is_new] = streams_.try_emplace({device, stream, pid}, 0);
  if (!is_new) return at->second;
  const bool is_first = device_owner_.try_emplace(device, pid).first->second == pid;
  const std::string others =
      is_first ? std::string() : fmt::format("GPU {} · process {}", device, pid);
  const std::int64_t tid = stream == kNoStream ? -1 : stream;
  at->second = part_.track(TrackKind::gpu_stream, is_first ? device : 0, tid, others);
  Track& track = part_.tracks[at->second];
  track.device = device;
  track.process_name = is_first ? fmt::format("GPU {}", device) : others;
  if (tid >= 0) track.stream = tid;
  track.thread_name = tid >= 0 ? fmt::format("stream {}", tid) : "no stream";
  return at->second;
}

void NsysReader::read_gpu_work() {
  visit_gpu(NsysTable::kernel,
            {"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"},
            [&](const SqliteRow& row, SpanRow& span) {
              const auto demangled = row.integer(kMore);
              span.name = name(string(demangled).empty() ? row.integer(kMore + 1) : demangled);
              span.kind = SpanKind::kernel;
              std::array<std::int64_t, 6> size{};
              for (std::size_t i = 0; i < size.size(); ++i) {
                const auto known = row.integer(kMore + 2 + static_cast<int>(i));
                if (!known) return;
                size[i] = *known;
              }
              span.shape = part_.names.intern(
                  launch_text({size[0], size[1], size[2]}, {size[3], size[4], size[5]}));
            });
  // Recorded at the level of graphs, the kernels of a graph are one row.
  visit_gpu(NsysTable::graph, {"graphId"}, [&](const SqliteRow& row, SpanRow& span) {
    span.name = part_.names.intern(fmt::format("CUDA graph {}", row.integer(kMore).value_or(0)));
    span.kind = SpanKind::kernel;
  });
  const auto add_bytes = [&](std::optional<std::int64_t> bytes) {
    if (bytes) part_.bytes.push_back({static_cast<SpanId>(part_.spans.size()), *bytes});
  };
  visit_gpu(NsysTable::memcpy, {"bytes", "copyKind", "srcKind", "dstKind"},
            [&](const SqliteRow& row, SpanRow& span) {
              const auto from = memory_kinds_.find(row.integer(kMore + 2).value_or(-1));
              const auto to = memory_kinds_.find(row.integer(kMore + 3).value_or(-1));
              std::string text =
                  fmt::format("Memcpy {}", named(kCopyKinds, row.integer(kMore + 1)));
              if (text.ends_with(' ')) text.pop_back();
              if (from != memory_kinds_.end() && to != memory_kinds_.end()) {
                text += fmt::format(" ({} -> {})", from->second, to->second);
              }
              add_bytes(row.integer(kMore));
              span.name = part_.names.intern(text);
              span.kind = SpanKind::copy;
            });
  visit_gpu(NsysTable::memset, {"bytes", "memKind"}, [&](const SqliteRow& row, SpanRow& span) {
    const auto kind = memory_kinds_.find(row.integer(kMore + 1).value_or(-1));
    add_bytes(row.integer(kMore));
    span.name = part_.names.intern(
        kind == memory_kinds_.end() ? "Memset" : fmt::format("Memset ({})", kind->second));
    span.kind = SpanKind::fill;
  });
}

void NsysReader::read_syncs() {
  visit_gpu(NsysTable::synchronization, {"syncType"}, [&](const SqliteRow& row, SpanRow& span) {
    span.name = part_.names.intern(named(kSyncTypes, row.integer(kMore)));
    span.kind = SpanKind::sync;
  });
}

void NsysReader::read_memory() {
  enum Column : std::uint8_t { kTime, kProcess, kGpu, kAddress, kBytes, kKind, kOperation };
  visit("CUDA_GPU_MEMORY_USAGE_EVENTS",
        {"start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"},
        [&](const SqliteRow& row) {
          const auto time = row.integer(kTime);
          const auto bytes = row.integer(kBytes);
          const auto operation = row.integer(kOperation);
          if (!time || *time < -kMaxTime || *time > kMaxTime) {
            part_.warnings.add(WarningKind::missing_time, kNowhere);
            return;
          }
          if (!bytes || *bytes < 0 || !operation || *operation < 0 || *operation > 1) {
            part_.warnings.add(WarningKind::bad_event, kNowhere);
            return;
          }
          MemoryEvent event;
          event.time_ns = *time;
          event.bytes =
              *operation == static_cast<std::int64_t>(MemoryOperation::release) ? -*bytes : *bytes;
          if (const auto address = row.integer(kAddress)) {
            event.address = static_cast<std::uint64_t>(*address);
          }
          const auto kind = memory_kinds_.find(row.integer(kKind).value_or(-1));
          event.device = kind == memory_kinds_.end() ? MemoryDevice::gpu : device_of(kind->second);
          event.device_index = static_cast<std::int32_t>(row.integer(kGpu).value_or(-1));
          event.track = part_.track(TrackKind::thread, pid_of(row.integer(kProcess).value_or(0)),
                                    pid_of(row.integer(kProcess).value_or(0)));
          part_.memory.push_back(event);
        });
}

// Samples of the GPUs' own counters, each series on a row of its GPU. The GPU is in the lowest byte
// of the type.
void NsysReader::read_metrics() {
  using Key = std::pair<std::int64_t, std::int64_t>;
  std::map<Key, std::string> series_names;
  visit("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, [&](const SqliteRow& row) {
    const Key key = {row.integer(0).value_or(0), row.integer(1).value_or(0)};
    series_names.emplace(key, row.text(2));
  });
  std::map<Key, std::size_t> series;
  visit("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, [&](const SqliteRow& row) {
    const auto time = row.integer(0);
    const auto value = row.real(3);
    if (!time || !value || *time < -kMaxTime || *time > kMaxTime) return;
    const Key key = {row.integer(1).value_or(0), row.integer(2).value_or(0)};
    const auto [at, is_new] = series.try_emplace(key, part_.counters.size());
    if (is_new) {
      Counter counter;
      const auto known = series_names.find(key);
      counter.name = part_.names.intern(
          known == series_names.end() ? fmt::format("metric {}", key.second) : known->second);
      const std::int64_t gpu = key.first & 0xFF;
      counter.track = part_.track(TrackKind::async, gpu, 0, {}, "GPU metrics");
      part_.tracks[counter.track].process_name = fmt::format("GPU {}", gpu);
      part_.counters.push_back(std::move(counter));
    }
    part_.counters[at->second].time_ns.push_back(*time);
    part_.counters[at->second].value.push_back(*value);
  });
}

}  // namespace fathom::trace
